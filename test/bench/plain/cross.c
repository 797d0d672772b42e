// The guarded program of bench guard-program: takes memory at 1 GiB/s until /proc says that less than
// a threshold is left, prints when that was (CLOCK_REALTIME, milliseconds), and goes on
// until it is killed. Arguments: the threshold, and the most to take, in bytes.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mem_available.h"

// Pieces that it goes on with: what other programs free meanwhile shall not hide that it crossed.
enum { kPiece = 1 << 20, kMore = 64 };

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const double threshold = atof(argv[1]);
  const size_t most = strtoull(argv[2], NULL, 10);
  const int meminfo = open("/proc/meminfo", O_RDONLY);
  char *memory =
      mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  int more = 0;
  for (size_t taken = 0; taken + kPiece <= most && more < kMore; taken += kPiece) {
    memset(memory + taken, 1, kPiece);
    if (more > 0 || left(meminfo, threshold) < threshold) more++;
    if (more == 1) {
      struct timespec at;
      clock_gettime(CLOCK_REALTIME, &at);
      printf("%.6f\n", at.tv_sec * 1e3 + at.tv_nsec / 1e6);
      fflush(stdout);
    }
    usleep(500);
  }
  sleep(2);
  return 1;
}
