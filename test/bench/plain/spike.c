// Takes 1 GiB, holds it for 2 ms, and gives it back. Prints MemFree before, at the lowest point, and after, in bytes, and
// how long all of it was held, in milliseconds. The kernel keeps freed pages in lists of each processor, which are not
// MemFree: a second spike takes them from there, and MemFree falls by less than 1 GiB.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static unsigned long long mem_free(void) {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return 0;
  return (unsigned long long)info.freeram * info.mem_unit;
}

int main(void) {
  const size_t bytes = 1u << 30;
  const unsigned long long before = mem_free();
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  const double full = now_ms();
  const unsigned long long lowest = mem_free();
  while (now_ms() - full < 2) {
  }
  const double held = now_ms() - full;
  munmap(memory, bytes);
  printf("%llu %llu %llu %.2f\n", before, lowest, mem_free(), held);
  return 0;
}
