// Takes pinned host memory in blocks of 64 MiB until there is none, as fast as the driver gives it. Pinned memory is the
// nearest thing to a unified machine's cudaMalloc: the kernel can neither reclaim it nor charge it to a limit.
// Usage: take_pinned MAX_GIB
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const size_t block = (size_t)64 << 20;
  const size_t most = strtoul(argv[1], NULL, 10) << 30;
  for (size_t taken = 0; taken < most; taken += block) {
    void *memory = NULL;
    if (cudaHostAlloc(&memory, block, cudaHostAllocDefault) != cudaSuccess) return 1;
  }
  puts("all taken");
  fflush(stdout);
  pause();
  return 0;
}
