// Facts and readings of every device that CUDA sees.
#pragma once

#include <vector>

#include "base/shared.h"
#include "cuda/connection.h"
#include "cuda/report.h"

namespace umaprobe {

// The numbers of NativeBinding.readCuda's first argument.
enum class MemGetInfoMode { kNever, kWhereContextExists, kCreateContext };

// Lives on the CUDA lane's thread. Remembers what does not change, so that a further reading costs
// a few calls.
class CudaReader {
 public:
  void read(CallContext& context, const MachineConfig& config, MemGetInfoMode mode,
            Shared<CudaReport>& report);
  Fact<FreeAndTotal> mem_get_info(CallContext& context, const MachineConfig& config, int device);

 private:
  void read_device(CallContext& context, int ordinal, Shared<CudaReport>& report);

  CudaConnection cuda_;
  std::vector<std::optional<CudaIdentity>> known_;  // by ordinal; CUDA fixes the list at cuInit
};

}  // namespace umaprobe
