// The guarded program of bench guard-program: takes memory at 1 GiB/s until /proc/meminfo says that
// MemAvailable is below a threshold, prints when that was (CLOCK_REALTIME, milliseconds), and waits
// to be killed. Arguments: the threshold, and the most to take, in bytes.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mem_available.h"

enum { kPiece = 1 << 20 };

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const double threshold = atof(argv[1]);
  const size_t most = strtoull(argv[2], NULL, 10);
  const int meminfo = open("/proc/meminfo", O_RDONLY);
  char *memory =
      mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  for (size_t taken = 0; taken + kPiece <= most; taken += kPiece) {
    memset(memory + taken, 1, kPiece);
    if (available(meminfo) < threshold) {
      struct timespec at;
      clock_gettime(CLOCK_REALTIME, &at);
      printf("%.6f\n", at.tv_sec * 1e3 + at.tv_nsec / 1e6);
      fflush(stdout);
      sleep(2);
      return 1;
    }
    usleep(500);
  }
  return 1;
}
