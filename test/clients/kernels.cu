// A CUDA program that knows nothing of umaprobe but the names of two kernels. nvcc -cudart shared
// makes a program for a simulated machine of it; without that option it needs a real driver.
#include <cstdio>

__device__ unsigned long long word(unsigned long long seed, unsigned long long index) {
  unsigned long long word = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

extern "C" __global__ void umaprobe_fill(unsigned long long base, unsigned long long bytes,
                                         unsigned long long seed, unsigned long long first) {
  auto* words = reinterpret_cast<unsigned long long*>(base);
  for (unsigned long long i = threadIdx.x; i < bytes / 8; i += blockDim.x) {
    words[i] = word(seed, first / 8 + i);
  }
}

__global__ void vectorAdd(const float* a, const float* b, float* c, int count) {
  const int i = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  if (i < count) c[i] = a[i] + b[i];
}

static void show(const char* what) {
  const cudaError_t status = cudaGetLastError();
  std::printf("%s: %s: %s\n", what, cudaGetErrorName(status), cudaGetErrorString(status));
}

int main() {
  constexpr size_t kBytes = 1 << 20;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  void* memory = nullptr;
  unsigned long long back = 0;
  cudaStreamCreate(&stream);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaMalloc(&memory, kBytes);
  show("cudaMalloc");
  if (memory == nullptr) return 1;
  cudaEventRecord(begin, stream);
  umaprobe_fill<<<1, 256, 0, stream>>>(reinterpret_cast<unsigned long long>(memory), kBytes, 7, 0);
  cudaEventRecord(end, stream);
  cudaStreamSynchronize(stream);
  show("umaprobe_fill");
  cudaMemcpy(&back, static_cast<char*>(memory) + 8000, sizeof back, cudaMemcpyDeviceToHost);
  std::printf("word 1000: %016llx\n", back);
  vectorAdd<<<196, 256>>>(nullptr, nullptr, nullptr, 50000);
  show("vectorAdd");
  cudaFree(memory);
  show("cudaFree");
  return 0;
}
