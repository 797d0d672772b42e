// The plain program that memGetInfoSync() is measured against: cudaMemGetInfo in a loop. Prints
// nanoseconds per call: p50 p90, and the last reading.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBatch = 50 };  // as in measure.mjs

static int compare(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 20000;
  double *taken = malloc(sizeof(double) * (size_t)count);
  size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return 1;
  int samples = count / kBatch;
  for (int i = 0; i < samples; i++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int call = 0; call < kBatch; call++) {
      if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    taken[i] =
        ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / kBatch;
  }
  qsort(taken, (size_t)samples, sizeof(double), compare);
  printf("%.0f %.0f %zu %zu\n", taken[samples / 2], taken[samples * 9 / 10], free_bytes,
         total_bytes);
  return 0;
}
