// hog RATE LIMIT: takes RATE MiB of memory a second, up to LIMIT MiB, and keeps it for half a minute at most.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  const size_t step = 4u << 20;
  if (count != 3) return 2;
  const double rate = atof(arguments[1]) * (1 << 20), limit = atof(arguments[2]) * (1 << 20);
  const double start = now();
  alarm(30);
  puts("started");
  fflush(stdout);
  for (double taken = 0; taken < limit; taken += (double)step) {
    char *memory = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, step, MADV_HUGEPAGE);
    memset(memory, 1, step);
    while ((now() - start) * rate < taken + (double)step) usleep(200);
  }
  puts("has it");
  fflush(stdout);
  pause();
}
