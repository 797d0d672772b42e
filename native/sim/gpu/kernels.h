// The two kernels that a simulated device can run (../pattern.h), and the images they come in.
#pragma once
#include <string>
#include <vector>

#include "sim/gpu/contexts.h"

namespace umasim {

// A kernel of an image as its text declares it.
struct Function {
  Module* module;
  std::string name;
  int words;  // parameters that are 64-bit numbers; -1: it has others, too
};

// An image loaded into a context. The text alone is looked at: no code of it is ever run.
struct Module {
  int device;
  bool loaded;
  std::vector<Function> functions;
};

// Reads PTX for a device. A CUresult, and the kernels.
int read_image(const Device& device, const char* text, std::vector<Function>* functions);

// Begins the kernel with its parameters. What it does to memory is done when this returns; when it
// will be done on the simulated clock, synchronize() knows.
int run_kernel(const Call& call, int device, const Function& function, void** parameters);

}  // namespace umasim
