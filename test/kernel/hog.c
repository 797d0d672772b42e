// hog RATE LIMIT: takes RATE MiB of memory a second, up to LIMIT MiB, and keeps it for half a minute at most.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  const size_t step = 4u << 20, huge = 2u << 20, page = 4096;
  if (count != 3) return 2;
  const double rate = atof(arguments[1]) * (1 << 20), limit = atof(arguments[2]) * (1 << 20);
  const size_t size = (size_t)limit + step;
  const double start = now();
  alarm(30);
  puts("started");
  fflush(stdout);
  char *memory = mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memory += huge - (uintptr_t)memory % huge;
  // The kernel clears a page of 2 MiB at once; writing all of it again would halve the speed.
  madvise(memory, size, MADV_HUGEPAGE);
  for (size_t taken = 0; (double)taken < limit; taken += step) {
    for (size_t at = 0; at < step; at += page) memory[taken + at] = 1;
    while ((now() - start) * rate < (double)(taken + step)) usleep(200);
  }
  puts("has it");
  fflush(stdout);
  pause();
}
