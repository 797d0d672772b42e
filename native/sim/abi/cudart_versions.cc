// CUDA runtime: the functions that differ between CUDA 11, 12 and 13. A program that opens
// libumasim itself gets those of the machine's own runtime.
#include "abi/umasim_cudart.h"
#include "sim/abi/cudart.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_properties.h"

UMASIM_API CUresult cuGetProcAddress_v2(const char* name, void** function, int cuda_version,
                                        uint64_t flags, int* found) noexcept;

namespace umasim {
namespace {

constexpr int kOwn = 0;  // stands for the machine's CUDA version

// Returns the last version of the series if the machine has another major version: a program may
// bring its own libcudart along.
int version_of(const Call& call, int cuda) {
  const int own = static_cast<int>(call.state().machine.driver.runtime_version);
  if (cuda == kOwn || own / 1000 == cuda) return own;
  constexpr int kLast11 = 11080, kLast12 = 12090, kFirst13 = 13000;
  return cuda == 11 ? kLast11 : cuda == 12 ? kLast12 : kFirst13;
}

const PropertyLayout& layout_of(int cuda) {
  return cuda == 11 ? kProperties11 : cuda == 12 ? kProperties12 : kProperties13;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API cudaError_t cudaRuntimeGetVersion(int* version) noexcept {
  return umasim_cudart_version(kOwn, version);
}

cudaError_t umasim_cudart_version(int cuda, int* version) {
  return runtime("cudaRuntimeGetVersion", [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = version_of(call, cuda);
    return 0;
  });
}

UMASIM_API cudaError_t cudaSetDevice(int ordinal) noexcept {
  return umasim_cudart_set_device(kOwn, ordinal);
}

cudaError_t umasim_cudart_set_device(int cuda, int ordinal) {
  return about_device("cudaSetDevice", ordinal, true, [&](const Call& call, int device) {
    CudaThread& thread = cuda_thread(call.session());
    thread.ordinal = ordinal;
    // CUDA 12 and later create the context here, earlier versions on the first call that needs it.
    constexpr int kMakesContext = 12000;
    if (version_of(call, cuda) < kMakesContext) {
      thread.stack.clear();
      return 0;
    }
    Context* context;
    const int status = ensure_primary(call, device, &context);
    if (status != 0) return status;
    if (thread.stack.empty()) thread.stack.push_back(context);
    thread.stack.back() = context;
    return 0;
  });
}

cudaError_t umasim_cudart_properties(int cuda, void* properties, int ordinal) {
  return about_device("cudaGetDeviceProperties", ordinal, properties != nullptr,
                      [&](const Call& call, int device) {
                        const State& state = call.state();
                        fill_properties(state.machine, device, device_total(state, device),
                                        layout_of(cuda), properties);
                        return 0;
                      });
}

cudaError_t umasim_cudart_entry_point(int cuda, const char* name, void** function, int version,
                                      int* found) {
  return runtime("cudaGetDriverEntryPoint", [&](const Call& call) {
    if (name == nullptr || function == nullptr) return int{umaprobe::kCudaInvalidValue};
    const int wanted = version == 0 ? version_of(call, cuda) : version;
    // The numbers of cudaDriverEntryPointQueryResult are those that the driver answers. A function
    // that is not found is an error if there is no place for them.
    int result = 0;
    const int status = cuGetProcAddress_v2(name, function, wanted, 0, &result);
    if (found != nullptr) *found = result;
    return status == 0 && result != 0 && found == nullptr ? int{umaprobe::kCudaNotFound} : status;
  });
}
