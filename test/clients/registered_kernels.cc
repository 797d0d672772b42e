// What nvcc -cudart shared makes of a program with three kernels, written by hand, so that neither
// nvcc nor its headers are needed: the constructor that registers the image and each kernel under
// its host function, and the host functions, which launch. Linked with nothing: the functions come
// from the libcudart that is named as the only argument.
//
//   __global__ void umaprobe_fill(u64 base, u64 bytes, u64 seed, u64 first)      recognized
//   __global__ void umaprobe_verify(u64 base, u64 bytes, u64 seed, u64 first, u64 result)
//   __global__ void vectorAdd(const float*, const float*, float*, int)           not supported
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct dim3 {
  unsigned int x, y, z;
};

void* library;

template <typename Function>
Function* find(const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

#define CALL(name, result, ...) find<result(__VA_ARGS__)>(name)

// __cudaLaunch of host_runtime.h, of CUDA 11 and 12.
void launch(const void* host_function, void** arguments) {
  dim3 grid, block;
  size_t shared;
  void* stream;
  if (CALL("__cudaPopCallConfiguration", int, dim3*, dim3*, size_t*, void*)(&grid, &block, &shared,
                                                                           &stream) != 0) {
    return;
  }
  CALL("cudaLaunchKernel", int, const void*, dim3, dim3, void**, size_t, void*)
  (host_function, grid, block, arguments, shared, stream);
}

// The same of CUDA 13: a handle, asked for once.
void launch_by_handle(const void* host_function, void** arguments) {
  void* kernel = nullptr;
  CALL("__cudaGetKernel", int, void**, const void*)(&kernel, host_function);
  dim3 grid, block;
  size_t shared;
  void* stream;
  CALL("__cudaPopCallConfiguration", int, dim3*, dim3*, size_t*, void*)
  (&grid, &block, &shared, &stream);
  CALL("__cudaLaunchKernel", int, void*, dim3, dim3, void**, size_t, void*)
  (kernel, grid, block, arguments, shared, stream);
}

void umaprobe_fill(uint64_t base, uint64_t bytes, uint64_t seed, uint64_t first) {
  void* arguments[] = {&base, &bytes, &seed, &first};
  launch(reinterpret_cast<void*>(&umaprobe_fill), arguments);
}

void umaprobe_verify(uint64_t base, uint64_t bytes, uint64_t seed, uint64_t first,
                     uint64_t result) {
  void* arguments[] = {&base, &bytes, &seed, &first, &result};
  launch_by_handle(reinterpret_cast<void*>(&umaprobe_verify), arguments);
}

void vectorAdd(const float* a, const float* b, float* c, int count) {
  void* arguments[] = {&a, &b, &c, &count};
  launch(reinterpret_cast<void*>(&vectorAdd), arguments);
}

void never_registered() {
  void* arguments[] = {nullptr};
  launch(reinterpret_cast<void*>(&never_registered), arguments);
}

void** handle;

void register_one(const void* host_function, const char* name) {
  CALL("__cudaRegisterFunction", void, void**, const void*, const char*, const char*, int, void*,
       void*, void*, void*, int*)
  (handle, host_function, name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

void register_all() {
  static const unsigned int image[6] = {0x466243b1, 1};
  handle = CALL("__cudaRegisterFatBinary", void**, const void*)(image);
  register_one(reinterpret_cast<void*>(&umaprobe_fill), "umaprobe_fill");
  register_one(reinterpret_cast<void*>(&umaprobe_verify), "umaprobe_verify");
  register_one(reinterpret_cast<void*>(&vectorAdd), "_Z9vectorAddPKfS0_Pfi");
  CALL("__cudaRegisterFatBinaryEnd", void, void**)(handle);
}

void configure(dim3 grid, dim3 block) {
  CALL("__cudaPushCallConfiguration", unsigned, dim3, dim3, size_t, void*)(grid, block, 0, nullptr);
}

void show(const char* what) {
  const int status = CALL("cudaGetLastError", int)();
  std::printf("%s: %d %s\n", what, status, CALL("cudaGetErrorString", const char*, int)(status));
}

}  // namespace

int main(int, char** argv) {
  library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  register_all();
  constexpr uint64_t kBytes = 1ull << 30;
  void *memory, *result;
  CALL("cudaMalloc", int, void**, size_t)(&memory, kBytes);
  CALL("cudaMalloc", int, void**, size_t)(&result, 16);
  const uint64_t base = reinterpret_cast<uintptr_t>(memory);
  uint64_t found[2] = {0, ~0ull};
  CALL("cudaMemcpy", int, void*, const void*, size_t, int)(result, found, sizeof found, 1);
  show("allocated");
  configure({256, 1, 1}, {256, 1, 1});
  umaprobe_fill(base, kBytes, 7, 0);
  show("fill");
  CALL("cudaMemset", int, void*, int, size_t)(reinterpret_cast<char*>(memory) + 5, 0, 1);
  configure({256, 1, 1}, {256, 1, 1});
  umaprobe_verify(base, kBytes, 7, 0, reinterpret_cast<uintptr_t>(result));
  CALL("cudaMemcpy", int, void*, const void*, size_t, int)(found, result, sizeof found, 2);
  show("verify");
  std::printf("%llu wrong, the first at %llu\n", static_cast<unsigned long long>(found[0]),
              static_cast<unsigned long long>(found[1]));
  configure({196, 1, 1}, {256, 1, 1});
  vectorAdd(nullptr, nullptr, nullptr, 50000);
  show("vectorAdd");
  configure({1, 1, 1}, {2048, 1, 1});
  vectorAdd(nullptr, nullptr, nullptr, 1);
  show("a block of 2048 threads");
  configure({1, 1, 1}, {1, 1, 1});
  never_registered();
  show("a function that was never registered");
  CALL("__cudaUnregisterFatBinary", void, void**)(handle);
  configure({1, 1, 1}, {1, 1, 1});
  vectorAdd(nullptr, nullptr, nullptr, 1);
  show("unregistered");
  return 0;
}
