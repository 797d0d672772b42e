// Reads every device that CUDA sees.
#pragma once

#include <vector>

#include "base/shared.h"
#include "cuda/connection.h"
#include "cuda/report.h"

namespace umaprobe {

// Values of the first argument of NativeBinding.readCuda.
enum class MemGetInfoMode { kNever, kWhereContextExists, kCreateContext };

// Runs on the CUDA worker thread. Caches facts that do not change, so that each further reading
// costs a few calls.
class CudaReader {
 public:
  // `known_identities`: the number in the report whose identities the caller has; while they are
  // valid the report leaves them out. 0: the caller has none.
  void read(CallContext& context, const MachineConfig& config, MemGetInfoMode mode,
            int known_identities, Shared<CudaReport>& report);
  Fact<FreeAndTotal> mem_get_info(CallContext& context, const MachineConfig& config, int device);

 private:
  void read_identity(CallContext& context, int ordinal, Shared<CudaReport>& report);

  CudaConnection cuda_;
  std::vector<std::optional<CudaIdentity>>
      identities_;             // by ordinal; CUDA fixes the list in cuInit
  int identities_number_ = 0;  // grows when one of them is read
};

}  // namespace umaprobe
