// The kernels of the program itself. nvcc puts them into the program, with constructors that
// register each one before main() under the address of its host function, which launches name.
// They belong to the process, not to a machine.
#pragma once
#include "sim/gpu/kernel_images.h"

namespace umasim {

// Registers a kernel. A kernel with the name of the fill or verify kernel is taken for that one:
// the program's code is machine code or compressed, so its parameters cannot be read.
void register_kernel(const void* image, const void* host_function, const char* name);
void unregister_kernels(const void* image);

// The kernel of a host function, or null. It stays valid after its image is unregistered.
const KernelFunction* registered_kernel(const void* host_function);
// Returns whether this kernel was returned before.
bool is_registered(const KernelFunction* kernel);

}  // namespace umasim
