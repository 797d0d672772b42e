// The readings of a GPU that the simulated nvidia-smi shows, all from the simulated NVML.
#pragma once
#include <string>
#include <vector>

#include "sim/abi/nvml_functions.h"

namespace umasim::smi {

// A GPU that NVML counts. `status`: why it has no handle; 0 for one that answers.
struct Gpu {
  unsigned int index;
  int status;
  nvmlDevice_t handle;
  std::string bus_id, uuid;  // known without a handle, too: the machine's description has them
};

struct Process {
  unsigned int pid;
  std::string type, name;    // type: C, G or C+G
  unsigned long long bytes;  // kNvmlValueNotAvailable: the driver does not say
};

// Fills in the GPUs in NVML's order. Returns NVML's status.
int list_gpus(std::vector<Gpu>* gpus);

std::vector<Process> processes_of(const Gpu& gpu);

std::string driver_version();
std::string nvml_version();
std::string cuda_version();

// std::snprintf into a string.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

constexpr unsigned long long mib(unsigned long long bytes) { return bytes >> 20; }

}  // namespace umasim::smi
