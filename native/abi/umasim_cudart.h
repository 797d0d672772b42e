// The functions that differ between the CUDA runtimes of versions 11, 12 and 13. libumasim exports
// them for its three libcudart (sim/libcudart). All other runtime functions are the same in each
// version.
#pragma once
#include "abi/cuda.h"

#pragma GCC visibility push(default)
extern "C" {
// Each stands in for the function without its prefix. `cuda` is 11, 12 or 13.
cudaError_t umasim_cudart_version(int cuda, int* version);
cudaError_t umasim_cudart_set_device(int cuda, int ordinal);
// Fills the cudaDeviceProp of that version.
cudaError_t umasim_cudart_properties(int cuda, void* properties, int ordinal);
// A function of the driver, of the version that CUDA `version` (such as 12040) has; 0: that of the
// caller's runtime. Writes a cudaDriverEntryPointQueryResult to `found` unless null.
cudaError_t umasim_cudart_entry_point(int cuda, const char* name, void** function, int version,
                                      int* found);
}
#pragma GCC visibility pop
