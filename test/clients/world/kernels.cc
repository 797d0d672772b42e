// Scenarios: the fill and verify kernels, and system memory.
#include "kernels.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace world {
namespace {

uint64_t resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

void fills_and_verifies() {
  boot("gb10", 1000);
  Kernels kernels;
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{7}, kMiB + 3, 90 * kGiB}) {
    char* memory = static_cast<char*>(allocate(bytes));
    EXPECT(kernels.wrong(memory, std::min(bytes, kMiB), 42) > 0);
    kernels.fill(memory, bytes, 42, 0);
    EXPECT(kernels.wrong(memory, bytes, 42) == 0);
    // The bytes copied back match the pattern at these offsets.
    for (const uint64_t at : {uint64_t{0}, bytes / 2, bytes - 1}) {
      unsigned char back = 0;
      EXPECT(cudaMemcpy(&back, memory + at, 1, 2) == 0);
      EXPECT(back == umaprobe::pattern_byte(42, at), "%llu", static_cast<unsigned long long>(at));
    }
    EXPECT(cudaFree(memory) == 0);
  }
  EXPECT(resident_kib() < 512 * 1024, "%llu KiB", static_cast<unsigned long long>(resident_kib()));
}

void wrong_bytes_are_counted() {
  boot("gb10", 1000);
  Kernels kernels;
  for (const uint64_t bytes : {100 * uint64_t{1000}, 64 * kMiB + 5}) {
    char* memory = static_cast<char*>(allocate(bytes));
    kernels.fill(memory, bytes, 7, 0);
    for (const uint64_t at : {uint64_t{3}, bytes / 3, bytes - 1}) {
      const auto byte = static_cast<char>(~umaprobe::pattern_byte(7, at));
      EXPECT(cudaMemcpy(memory + at, &byte, 1, 1) == 0);
    }
    umaprobe::VerifyResult found = kernels.verify(memory, bytes, 7, 0);
    EXPECT(found.mismatches == 3 && found.first_mismatch == 3);
    found = kernels.verify(memory + 8, bytes - 8, 7, 8);
    EXPECT(found.mismatches == 2 && found.first_mismatch == bytes / 3);
    // A memset whose byte matches the pattern in some places by chance.
    uint64_t expected = 0;
    for (uint64_t at = 5000; at < 9000; at++) expected += umaprobe::pattern_byte(7, at) != 0x11;
    kernels.fill(memory, bytes, 7, 0);
    EXPECT(cudaMemset(memory + 5000, 0x11, 4000) == 0);
    found = kernels.verify(memory, bytes, 7, 0);
    EXPECT(found.mismatches == expected && found.first_mismatch >= 5000);
    // Another seed, and the right bytes at the wrong offset.
    EXPECT(kernels.wrong(memory, kMiB < bytes ? kMiB : bytes, 8) > 90000);
    kernels.fill(memory, bytes, 7, 8);
    EXPECT(kernels.wrong(memory, std::min(bytes, kMiB), 7) > 90000);
    EXPECT(kernels.wrong(memory, bytes, 7, 8) == 0);
    EXPECT(cudaFree(memory) == 0);
  }
}

void slices_make_a_whole() {
  boot("gb10", 1000);
  Kernels kernels;
  constexpr uint64_t kBytes = 3 * kGiB + 13;
  char* memory = static_cast<char*>(allocate(kBytes));
  for (uint64_t at = 0, slice = 64 * kMiB; at < kBytes; at += slice, slice *= 2) {
    kernels.fill(memory + at, std::min(slice, kBytes - at), 1, at);
  }
  EXPECT(kernels.wrong(memory, kBytes, 1) == 0);
  // A copy within the device copies the contents.
  EXPECT(cudaMemcpy(memory, memory + 2 * kGiB, 2 * kMiB, 3) == 0);
  EXPECT(kernels.wrong(memory, 2 * kMiB, 1, 2 * kGiB) == 0);
  EXPECT(kernels.wrong(memory + 2 * kMiB, kBytes - 2 * kMiB, 1, 2 * kMiB) == 0);
  // A second fill makes every byte right.
  kernels.fill(memory, kBytes, 2, 0);
  EXPECT(kernels.wrong(memory, kBytes, 2) == 0);
  EXPECT(cudaMemset(memory, 0, kBytes) == 0);
  EXPECT(kernels.wrong(memory, kMiB, 2) > kMiB / 2);
}

void pokes_through_the_pointer() {
  boot("gb10", 1000);
  Kernels kernels;
  constexpr uint64_t kBytes = 5 * kGiB;
  auto* memory = static_cast<unsigned char*>(allocate(kBytes));
  kernels.fill(memory, kBytes, 9, 0);
  const uint64_t at = 3 * kGiB + 77;
  memory[at] = static_cast<unsigned char>(umaprobe::pattern_byte(9, at) == 255 ? 1 : 255);
  const umaprobe::VerifyResult found = kernels.verify(memory, kBytes, 9, 0);
  EXPECT(found.mismatches == 1 && found.first_mismatch == at);
}

void corruption_is_scripted() {
  boot("gb10", 1000,
       "faults.corrupt.0.offset 70000000\nfaults.corrupt.0.after 1\nfaults.corrupt.0.times 1\n");
  Kernels kernels;
  constexpr uint64_t kBytes = 128 * kMiB;
  char* memory = static_cast<char*>(allocate(kBytes));
  kernels.fill(memory, kBytes, 3, 0);
  EXPECT(kernels.wrong(memory, kBytes, 3) == 0);
  kernels.fill(memory, 64 * kMiB, 3, 0);  // does not cover the offset
  kernels.fill(memory + 64 * kMiB, 64 * kMiB, 3, 64 * kMiB);
  const umaprobe::VerifyResult found = kernels.verify(memory, kBytes, 3, 0);
  EXPECT(found.mismatches == 1 && found.first_mismatch == 70000000);
  kernels.fill(memory, kBytes, 3, 0);
  EXPECT(kernels.wrong(memory, kBytes, 3) == 0);
}

void modules() {
  boot("h200", 1000);
  CUmod_st* module = nullptr;
  EXPECT(cuInit(0) == 0);
  EXPECT(cuModuleLoadData(&module, kImage) == umaprobe::kCudaInvalidContext);
  EXPECT(cudaFree(nullptr) == 0);
  EXPECT(cuModuleLoadData(&module, nullptr) == umaprobe::kCudaInvalidValue);
  EXPECT(cuModuleLoadData(&module, "something else") == 200);
  EXPECT(cuModuleLoadData(&module, "\177ELF...") == 209);
  EXPECT(cuModuleLoadData(&module, ".version 8.8\n.target sm_121\n") == 209);  // too new a target
  module = load();
  CUfunc_st* kernel = nullptr;
  EXPECT(cuModuleGetFunction(&kernel, module, "commented_out") == umaprobe::kCudaNotFound);
  kernel = function(module, "somebody_elses");
  EXPECT(launch(kernel, {1}) == umaprobe::kCudaNotSupported);
  kernel = function(module, umaprobe::kFillKernel);
  void* parameters[4] = {};
  EXPECT(cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == 1);
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1025, 1, 1, 0, nullptr, parameters, nullptr) == 1);
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == 1);
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == 1);
  EXPECT(cuModuleUnload(module) == 0 && cuModuleUnload(module) == 400);
  EXPECT(cuModuleGetFunction(&kernel, module, umaprobe::kFillKernel) == 400);
  EXPECT(launch(kernel, {0, 0, 0, 0}) == 400);
}

void host_memory_is_reached() {
  boot("h200", 1000);
  Kernels kernels;
  void* pinned = nullptr;
  EXPECT(cudaHostAlloc(&pinned, 4 * kMiB, 2) == 0);
  kernels.fill(pinned, 4 * kMiB, 6, 0);
  EXPECT(kernels.wrong(pinned, 4 * kMiB, 6) == 0);
  // Registered memory belongs to the program, which reads it directly.
  std::vector<unsigned char> own(3 * kMiB + 1);
  EXPECT(cudaHostRegister(own.data(), own.size(), 0) == 0);
  kernels.fill(own.data(), own.size(), 6, 0);
  for (uint64_t at = 0; at < own.size(); at += 4093) {
    EXPECT(own[at] == umaprobe::pattern_byte(6, at));
  }
  own[2 * kMiB] ^= 1;
  EXPECT(kernels.wrong(own.data(), own.size(), 6) == 1);
  void* address = nullptr;
  int found = -1;
  EXPECT(cuGetProcAddress_v2("cuMemHostGetDevicePointer", &address, 13000, 0, &found) == 0);
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &address, 13000, 0, &found) == 0 && found == 0);
}

void wrong_addresses() {
  boot("gb10", 1000);
  {
    Kernels kernels;
    char* memory = static_cast<char*>(allocate(kMiB));
    const uint64_t base = reinterpret_cast<uintptr_t>(memory);
    // The launch succeeds; every later call fails until the context is destroyed.
    EXPECT(launch(kernels.fills, {base, kMiB + 1, 1, 0}) == 0);
    EXPECT(cuCtxSynchronize() == 700 && cudaMemset(memory, 0, 1) == 700);
    size_t free_bytes, total;
    EXPECT(cudaMemGetInfo(&free_bytes, &total) == 700);
    EXPECT(cudaDeviceReset() == 0 && cudaMemGetInfo(&free_bytes, &total) == 0);
  }
  {
    Kernels kernels;
    char* memory = static_cast<char*>(allocate(kMiB));
    const uint64_t base = reinterpret_cast<uintptr_t>(memory);
    EXPECT(launch(kernels.verifies, {base, kMiB, 1, 0, base + 4}) == 0);
    EXPECT(cuCtxSynchronize() == 716 && cudaDeviceReset() == 0);
  }
  Kernels kernels;
  char own[64];
  EXPECT(launch(kernels.fills, {reinterpret_cast<uintptr_t>(own), 64, 1, 0}) == 0);
  EXPECT(cuCtxSynchronize() == 700);
}

void lazy_memory_is_charged() {
  boot("gb10", 1000);
  Kernels kernels;
  char* managed;
  EXPECT(cudaMallocManaged(reinterpret_cast<void**>(&managed), 20 * kGiB, 1) == 0);
  const uint64_t free_before = meminfo("MemFree"), anon = meminfo("AnonPages");
  kernels.fill(managed + kGiB, 3 * kGiB, 5, kGiB);
  EXPECT(free_before - meminfo("MemFree") == 3 * kGiB && meminfo("AnonPages") == anon);
  EXPECT(kernels.wrong(managed + kGiB, 3 * kGiB, 5, kGiB) == 0);
  EXPECT(free_before - meminfo("MemFree") == 3 * kGiB);
  EXPECT(cudaFree(managed) == 0 && meminfo("MemFree") == free_before);
}

void system_memory() {
  boot("gb10", 100);
  Kernels kernels;
  const uint64_t free_before = meminfo("MemFree"), anon = meminfo("AnonPages");
  char* memory = static_cast<char*>(umasim_map(8 * kGiB));
  EXPECT(memory != nullptr && meminfo("MemFree") == free_before);
  kernels.fill(memory, kGiB, 1, 0);
  EXPECT(meminfo("AnonPages") - anon == kGiB && free_before - meminfo("MemFree") == kGiB);
  EXPECT(kernels.wrong(memory, kGiB, 1) == 0);
  EXPECT(cudaMemset(memory + kGiB, 1, kGiB) == 0 && meminfo("AnonPages") - anon == 2 * kGiB);
  EXPECT(record().find("\"kind\":\"system\"") != std::string::npos);
  // System memory outlives the context, and cudaFree refuses it.
  EXPECT(cudaFree(memory) == umaprobe::kCudaInvalidValue);
  EXPECT(cudaDeviceReset() == 0 && meminfo("AnonPages") - anon == 2 * kGiB);
  umasim_unmap(memory, 8 * kGiB);
  EXPECT(meminfo("AnonPages") == anon);
  EXPECT(umasim_map(0) == nullptr && errno == EINVAL);
  const int pid = start([] {
    void* mine = umasim_map(4 * kGiB);
    EXPECT(cudaMemset(mine, 1, 4 * kGiB) == 0);
    pause();
  });
  while (meminfo("AnonPages") - anon < 4 * kGiB) wait_ms(1);
  kill_and_wait(pid);
  EXPECT(meminfo("AnonPages") == anon);
}

void system_memory_out_of_reach() {
  boot("h200", 1000);
  Kernels kernels;
  void* memory = umasim_map(kGiB);
  EXPECT(cudaMemset(memory, 1, kGiB) == umaprobe::kCudaInvalidValue);
  EXPECT(launch(kernels.fills, {reinterpret_cast<uintptr_t>(memory), kGiB, 1, 0}) == 0);
  EXPECT(cuCtxSynchronize() == 700);
}

}  // namespace

const Row kKernelScenarios[] = {{"kernels.fill_and_verify", fills_and_verifies},
                                {"kernels.wrong_bytes", wrong_bytes_are_counted},
                                {"kernels.slices", slices_make_a_whole},
                                {"kernels.pokes", pokes_through_the_pointer},
                                {"kernels.corruption", corruption_is_scripted},
                                {"kernels.modules", modules},
                                {"kernels.host_memory", host_memory_is_reached},
                                {"kernels.wrong_addresses", wrong_addresses},
                                {"kernels.lazy_memory", lazy_memory_is_charged},
                                {"kernels.system_memory", system_memory},
                                {"kernels.out_of_reach", system_memory_out_of_reach},
                                {nullptr, nullptr}};

}  // namespace world
