#include "cuda/reader.h"

#include <algorithm>

#include "cuda/identity.h"
#include "cuda/mem_get_info.h"

namespace umaprobe {
namespace {

Fact<bool> context_active(CallContext& context, const CudaConnection& cuda, int ordinal) {
  const CudaDriver* driver = cuda.driver();
  // The runtime cannot detect a context without creating one.
  if (!driver) return cuda.driver_failure();
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  auto failure = call(context, *driver, driver->cuDeviceGet, &device, ordinal);
  if (!failure) {
    failure = call(context, *driver, driver->cuDevicePrimaryCtxGetState, device, &flags, &active);
  }
  return fact(failure, active != 0);
}

// Empty if the mode does not ask for it.
Maybe<FreeAndTotal> mem_get_info_by_mode(CallContext& context, const CudaConnection& cuda,
                                         MemGetInfoMode mode, int ordinal,
                                         const Fact<bool>& active) {
  if (mode == MemGetInfoMode::kNever) return std::nullopt;
  if (mode == MemGetInfoMode::kWhereContextExists) {
    // The state of the context is not known; contextActive says why, and nothing is tried.
    if (failure_of(active) || !std::get<bool>(active)) return std::nullopt;
  }
  return mem_get_info(context, cuda, ordinal, CurrentDevice::kMayChange);
}

}  // namespace

void CudaReader::read(CallContext& context, const MachineConfig& config, MemGetInfoMode mode,
                      int known_identities, Shared<CudaReport>& report) {
  cuda_.connect_runtime(context, config);
  report.update([&](CudaReport& value) {
    value.runtime = cuda_.runtime_report();
    value.runtimeVersion = cuda_.runtime_version();
  });
  cuda_.connect_driver(context, config);
  const Fact<int> count = cuda_.device_count();
  const int devices = failure_of(count) ? 0 : std::get<int>(count);
  report.update([&](CudaReport& value) {
    value.driver = cuda_.driver_report();
    value.driverVersion = cuda_.driver_version();
    value.deviceCount = count;
    value.devices.resize(static_cast<size_t>(devices));
    for (int i = 0; i < devices; ++i) value.devices[static_cast<size_t>(i)].ordinal = i;
  });
  const auto all = [&] {
    return std::all_of(identities_.begin(), identities_.end(),
                       [](const auto& identity) { return identity.has_value(); });
  };
  identities_.resize(static_cast<size_t>(devices));
  if (!all() || known_identities != identities_number_) {
    for (int i = 0; i < devices; ++i) read_identity(context, i, report);
  }
  const int number = all() ? identities_number_ : 0;
  report.update([&](CudaReport& value) { value.identities = number; });
  for (int i = 0; i < devices; ++i) {
    Fact<bool> active = context_active(context, cuda_, i);
    report.update([&](CudaReport& value) {
      value.devices[static_cast<size_t>(i)].contextActive = std::move(active);
    });
  }

  // Last, because this call may create a context, fail or hang.
  for (int i = 0; i < devices; ++i) {
    const auto at = static_cast<size_t>(i);
    const Maybe<bool> active =
        report.read([&](const CudaReport& value) { return value.devices[at].contextActive; });
    Maybe<FreeAndTotal> info = mem_get_info_by_mode(context, cuda_, mode, i, *active);
    report.update([&](CudaReport& value) { value.devices[at].memGetInfo = std::move(info); });
  }
}

void CudaReader::read_identity(CallContext& context, int ordinal, Shared<CudaReport>& report) {
  const size_t i = static_cast<size_t>(ordinal);
  if (identities_[i]) {
    report.update([&](CudaReport& value) { value.devices[i].identity = *identities_[i]; });
    return;
  }
  umaprobe::read_identity(context, cuda_, ordinal, report);
  report.read([&](const CudaReport& value) {
    if (!is_complete(value.devices[i].identity)) return;
    identities_[i] = value.devices[i].identity;
    ++identities_number_;
  });
}

Fact<FreeAndTotal> CudaReader::mem_get_info(CallContext& context, const MachineConfig& config,
                                            int device) {
  cuda_.connect_any(context, config);
  return umaprobe::mem_get_info(context, cuda_, device, CurrentDevice::kMayChange);
}

}  // namespace umaprobe
