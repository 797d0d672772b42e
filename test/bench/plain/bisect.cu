// Plain bisection: the largest single cudaMalloc, down to 2 MiB; and the largest total by chunks
// that halve when refused. Prints "bytes milliseconds-in-CUDA" for each.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <vector>

namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kResolution = 2 << 20;
double cuda_ms = 0;

template <class Call>
cudaError_t timed(Call call) {
  const auto from = Clock::now();
  const cudaError_t status = call();
  cuda_ms += std::chrono::duration<double, std::milli>(Clock::now() - from).count();
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}
}  // namespace

int main() {
  if (cudaFree(nullptr) != cudaSuccess) return 1;
  size_t free_bytes = 0;
  size_t total = 0;
  if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) return 1;

  size_t low = 0;
  size_t high = total;
  while (high - low > kResolution) {
    const size_t middle = low + (high - low) / 2 / kResolution * kResolution;
    if (middle == low) break;
    void* block = nullptr;
    if (timed([&] { return cudaMalloc(&block, middle); }) == cudaSuccess) {
      low = middle;
      timed([&] { return cudaFree(block); });
    } else {
      high = middle;
    }
  }
  std::printf("single %zu %.3f\n", low, cuda_ms);

  cuda_ms = 0;
  size_t held = 0;
  std::vector<void*> blocks;
  for (size_t chunk = total / 2 / kResolution * kResolution; chunk >= kResolution;) {
    void* block = nullptr;
    if (timed([&] { return cudaMalloc(&block, chunk); }) == cudaSuccess) {
      blocks.push_back(block);
      held += chunk;
    } else {
      chunk = chunk / 2 / kResolution * kResolution;
    }
  }
  for (void* block : blocks) timed([&] { return cudaFree(block); });
  std::printf("total %zu %.3f\n", held, cuda_ms);
}
