// Kernel images. The simulator reads the declarations in their PTX text and never runs their code.
#pragma once
#include <string>
#include <vector>

#include "sim/state/machine.h"

namespace umasim {

struct Module;

// A kernel that an image declares.
struct KernelFunction {
  Module* module;
  std::string name;
  int u64_parameters;  // -1: some parameters are of other types
};

// An image loaded into a context.
struct Module {
  int device;
  bool loaded;
  std::vector<KernelFunction> functions;
};

// Reads the kernels of a PTX image. Returns a CUresult; cubins and fat binaries need a real GPU.
int read_image(const Device& device, const char* image, std::vector<KernelFunction>* functions);

}  // namespace umasim
