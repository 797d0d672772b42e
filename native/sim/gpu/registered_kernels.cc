#include "sim/gpu/registered_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "abi/pattern.h"

namespace umasim {
namespace {

struct Registered {
  const void* image;
  const KernelFunction* kernel;
};

// It is never destroyed: programs unregister while they exit.
struct Registry {
  std::mutex lock;
  std::map<const void*, Registered> of_host_function;
  std::deque<KernelFunction> kernels;  // addresses stay as they are
};

Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

int parameters_of(const std::string& name) {
  return name == umaprobe::kFillKernel ? 4 : name == umaprobe::kVerifyKernel ? 5 : -1;
}

}  // namespace

void register_kernel(const void* image, const void* host_function, const char* name) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  all.kernels.push_back({nullptr, name, parameters_of(name)});
  all.of_host_function[host_function] = {image, &all.kernels.back()};
}

void unregister_kernels(const void* image) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  for (auto at = all.of_host_function.begin(); at != all.of_host_function.end();) {
    at = at->second.image == image ? all.of_host_function.erase(at) : std::next(at);
  }
}

const KernelFunction* registered_kernel(const void* host_function) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  const auto found = all.of_host_function.find(host_function);
  return found == all.of_host_function.end() ? nullptr : found->second.kernel;
}

bool is_registered(const KernelFunction* kernel) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  return std::any_of(all.kernels.begin(), all.kernels.end(),
                     [&](const KernelFunction& one) { return &one == kernel; });
}

}  // namespace umasim
