// The plain program that hostMemorySync() is measured against: pread of /proc/meminfo on one
// descriptor and a parse of the same lines into doubles. Prints nanoseconds per reading: p50 p90,
// over argv[1] readings in batches.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const kKeys[] = {
    "MemTotal",          "MemFree",       "MemAvailable", "Buffers",       "Cached",
    "SwapCached",        "Shmem",         "AnonPages",    "AnonHugePages", "Mapped",
    "Mlocked",           "Unevictable",   "Dirty",        "Writeback",     "Active(file)",
    "Inactive(file)",    "KReclaimable",  "SReclaimable", "SUnreclaim",    "KernelStack",
    "PageTables",        "SecPageTables", "Percpu",       "VmallocUsed",   "Committed_AS",
    "HardwareCorrupted", "Zswap",         "SwapTotal",    "SwapFree",      "HugePages_Total",
    "HugePages_Free",    "Hugepagesize",  "Hugetlb",      "CmaTotal",      "CmaFree"};
enum { kCount = sizeof kKeys / sizeof *kKeys };

static void parse(const char *text, double *out) {
  for (int i = 0; i < kCount; i++) out[i] = -1;
  for (const char *line = text; *line != 0;) {
    const char *colon = strchr(line, ':');
    if (colon == NULL) break;
    size_t length = (size_t)(colon - line);
    for (int i = 0; i < kCount; i++) {
      if (strncmp(kKeys[i], line, length) == 0 && kKeys[i][length] == 0) {
        out[i] = strtod(colon + 1, NULL) * 1024;
        break;
      }
    }
    const char *end = strchr(colon, '\n');
    if (end == NULL) break;
    line = end + 1;
  }
}

enum { kBatch = 50 };  // as in measure.mjs

static int compare(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 20000;
  double *taken = malloc(sizeof(double) * (size_t)count), out[kCount], sum = 0;
  char text[16384];
  int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 1;
  int samples = count / kBatch;
  for (int i = 0; i < samples; i++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int call = 0; call < kBatch; call++) {
      ssize_t length = pread(fd, text, sizeof text - 1, 0);
      if (length <= 0) return 1;
      text[length] = 0;
      parse(text, out);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    taken[i] =
        ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / kBatch;
    sum += out[0];
  }
  qsort(taken, (size_t)samples, sizeof(double), compare);
  printf("%.0f %.0f %.0f\n", taken[samples / 2], taken[samples * 9 / 10], sum / samples);
  return 0;
}
