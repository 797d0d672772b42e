// NVML: device memory.
#include "sim/abi/nvml.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"

namespace umasim {
namespace {

struct MemoryAmounts {
  uint64_t total, reserved, free;
};

// Returns 0, or the status of the refusal.
int read_memory(State& state, int device, MemoryAmounts* out) {
  const Device& facts = state.machine.devices[device];
  const Locked locked(state);
  if (facts.nvml.memory == NvmlMemory::kOwn) {
    *out = {facts.memory, facts.reserved,
            saturating_sub(facts.memory, facts.reserved + state.world.gpu_device[device])};
  } else if (facts.nvml.memory == NvmlMemory::kHost) {
    *out = {state.machine.memory.total, 0, free_bytes(state)};
  }
  return facts.nvml.memory_status;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device,
                                                nvmlMemory_t* memory) noexcept {
  return nvml_device(__func__, device, memory != nullptr,
                     [&](const Call& call, int index, const Device&) {
                       MemoryAmounts now{0, 0, 0};
                       const int status = read_memory(call.state(), index, &now);
                       // Version 1 has no reserved field and counts it as used.
                       if (status == 0) *memory = {now.total, now.free, now.total - now.free};
                       return status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
                                                   nvmlMemory_v2_t* memory) noexcept {
  return nvml_device(__func__, device, memory != nullptr,
                     [&](const Call& call, int index, const Device&) {
                       if (memory->version != umaprobe::kNvmlMemoryV2) {
                         return int{umaprobe::kNvmlArgumentVersionMismatch};
                       }
                       MemoryAmounts now{0, 0, 0};
                       const int status = read_memory(call.state(), index, &now);
                       if (status == 0) {
                         *memory = {memory->version, now.total, now.reserved, now.free,
                                    now.total - now.free - now.reserved};
                       }
                       return status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
                                                    nvmlBAR1Memory_t* memory) noexcept {
  return nvml_device(__func__, device, memory != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       const NvmlValue& bar1 = facts.nvml.bar1;
                       if (bar1.status != 0) return bar1.status;
                       // The driver itself maps a little; an empty window is not seen in the field.
                       constexpr unsigned long long kMapped = 2ull << 20;
                       const auto total = static_cast<unsigned long long>(bar1.value);
                       *memory = {total, total - kMapped, kMapped};
                       return 0;
                     });
}
