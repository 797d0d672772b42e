// The plain program that the allocator is measured against: cudaMalloc, a kernel that writes the
// same pattern twice, cudaMemset, cudaFree. Arguments: repeats, then sizes in bytes. Prints for each
// repeat of each size: bytes, and milliseconds of alloc, first touch, second touch, memset, free.
// Before each repeat both programs sleep as long: see sleep_until_clean.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__global__ void fill(unsigned long long *words, size_t count, unsigned long long seed) {
  const size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count / 2; i += step) {
    unsigned long long pair[2];
    for (int half = 0; half < 2; half++) {
      unsigned long long z = seed + (2 * i + half + 1) * 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      pair[half] = z ^ (z >> 31);
    }
    reinterpret_cast<ulonglong2 *>(words)[i] = make_ulonglong2(pair[0], pair[1]);
  }
}

static double now_ms() {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

#define CHECK(call)                                                    \
  do {                                                                 \
    const cudaError_t status = call;                                   \
    if (status != cudaSuccess) {                                       \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status)); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

// The driver cleans freed memory in the background; on an H200 at some 300 GB/s. Whether an allocation
// meets memory that is not clean yet is a matter of luck that costs 240 ms at 60 GB and 0.3 at 1.
static void sleep_until_clean(size_t bytes) {
  const double ms = 5 + bytes / 1e9 * 10;
  struct timespec nap = {(time_t)(ms / 1e3), 0};
  nap.tv_nsec = (long)((ms - nap.tv_sec * 1e3) * 1e6);
  nanosleep(&nap, NULL);
}

static double touch(unsigned long long *words, size_t bytes, int blocks, unsigned long long seed) {
  const double start = now_ms();
  fill<<<blocks, 256>>>(words, bytes / 8, seed);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return now_ms() - start;
}

int main(int argc, char **argv) {
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaFree(0));
  const int repeats = atoi(argv[1]);
  for (int size = 2; size < argc; size++) {
    const size_t bytes = strtoull(argv[size], NULL, 10);
    for (int repeat = 0; repeat < repeats; repeat++) {
      unsigned long long *words = NULL;
      sleep_until_clean(bytes);
      double start = now_ms();
      CHECK(cudaMalloc(&words, bytes));
      const double alloc = now_ms() - start;
      const double first = touch(words, bytes, processors * 8, 1);
      const double second = touch(words, bytes, processors * 8, 2);
      start = now_ms();
      CHECK(cudaMemset(words, 0, bytes));
      CHECK(cudaDeviceSynchronize());
      const double set = now_ms() - start;
      start = now_ms();
      CHECK(cudaFree(words));
      printf("%zu %.6f %.6f %.6f %.6f %.6f\n", bytes, alloc, first, second, set, now_ms() - start);
    }
  }
  return 0;
}
