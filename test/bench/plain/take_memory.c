// Takes memory until less than a floor is left: the other program of bench guard. Arguments: the
// floor, and the most to take, in bytes. Prints the time (CLOCK_MONOTONIC, milliseconds) at which
// /proc first said that it is below, holds what it has for a moment, and ends.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mem_available.h"

enum { kPiece = 256 << 10 };

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const double floor = atof(argv[1]);
  const size_t most = strtoull(argv[2], NULL, 10);
  const int meminfo = open("/proc/meminfo", O_RDONLY);
  char *memory =
      mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  for (size_t taken = 0; taken + kPiece <= most; taken += kPiece) {
    memset(memory + taken, 1, kPiece);
    if (left(meminfo, floor) >= floor) continue;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    printf("%.6f\n", at.tv_sec * 1e3 + at.tv_nsec / 1e6);
    fflush(stdout);
    usleep(60000);
    return 0;
  }
  return 1;
}
