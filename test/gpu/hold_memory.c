// Takes memory of the first GPU and of the host, says so, and keeps both until its input ends.
// Usage: hold_memory GPU_MIB HOST_MIB
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const size_t gpu = strtoul(argv[1], NULL, 10) << 20;
  const size_t host = strtoul(argv[2], NULL, 10) << 20;
  void *block = NULL;
  if (gpu != 0 && cudaMalloc(&block, gpu) != cudaSuccess) return 1;
  char *bytes = malloc(host + 1);
  if (bytes == NULL) return 1;
  memset(bytes, 1, host + 1);
  puts("held");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return bytes[host] == 1 ? 0 : 1;
}
