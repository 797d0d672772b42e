#include "sim/gpu/cuda_attributes.h"

#include "abi/cuda.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

// Attributes that are equal on all GPUs of these generations; common programs read them.
struct Constant {
  int number, value;
};
constexpr Constant kConstant[] = {
    {1, 1024},         // max threads per block
    {2, 1024},         // max block dim x
    {3, 1024},         // y
    {4, 64},           // z
    {5, 2147483647},   // max grid dim x
    {6, 65535},        // y
    {7, 65535},        // z
    {8, 49152},        // shared memory per block
    {9, 65536},        // constant memory
    {10, 32},          // warp size
    {11, 2147483647},  // max pitch
    {12, 65536},       // registers per block
    {14, 512},         // texture alignment
    {15, 1},           // GPU overlap: copies beside a kernel
    {21, 131072},      // max 1D texture
    {22, 131072},      // max 2D texture, width
    {23, 65536},       // height
    {24, 16384},       // max 3D texture, width
    {25, 16384},       // height
    {26, 16384},       // depth
    {27, 32768},       // max layered 2D texture, width
    {28, 32768},       // height
    {29, 2048},        // layers
    {30, 512},         // surface alignment
    {31, 1},           // concurrent kernels
    {42, 32768},       // max layered 1D texture, width
    {43, 2048},        // layers
    {51, 32},          // texture pitch alignment
    {78, 1},           // stream priorities
    {79, 1},           // global memory in L1
    {80, 1},           // local memory in L1
    {82, 65536},       // registers per multiprocessor
    {90, 1},           // compute preemption
    {95, 1},           // cooperative launch
    {111, 1024},       // shared memory that the driver reserves per block
};

// The limits of a multiprocessor, by compute capability: the table of technical specifications in
// NVIDIA's CUDA programming guide.
struct Multiprocessor {
  int capability, threads, shared_kib, blocks;  // 10 * major + minor: from this one on
};
constexpr Multiprocessor kMultiprocessors[] = {
    {75, 1024, 64, 16},  {80, 2048, 164, 32}, {86, 1536, 100, 16},  {87, 1536, 164, 16},
    {89, 1536, 100, 24}, {90, 2048, 228, 32}, {110, 1536, 228, 24}, {120, 1536, 100, 24},
};

void multiprocessor_attribute(int capability, int attribute, int* value) {
  const Multiprocessor* found = &kMultiprocessors[0];
  for (const Multiprocessor& row : kMultiprocessors) {
    if (row.capability <= capability) found = &row;
  }
  if (attribute == 39) *value = found->threads;
  if (attribute == 81) *value = found->shared_kib * 1024;
  if (attribute == 97) *value = (found->shared_kib - 1) * 1024;  // one KiB a block is reserved
  if (attribute == 106) *value = found->blocks;
}

constexpr int kLastAttribute = 147;  // the last of CUDA 13.0

}  // namespace

bool device_attribute(const Machine& machine, int device, int attribute, int* value) {
  if (attribute < 1 || attribute > kLastAttribute) return false;
  const Device& facts = machine.devices[device];
  *value = 0;
#define X(name, number, ...) \
  if (attribute == number) *value = static_cast<int>(facts.attributes.name);
  UMAPROBE_CUDA_ATTRIBUTES(X)
#undef X
  for (const Constant& row : kConstant) {
    if (row.number == attribute) *value = row.value;
  }
  int major, minor;
  compute_capability(facts, &major, &minor);
  const PciAddress pci = pci_address(facts);
  multiprocessor_attribute(10 * major + minor, attribute, value);
  if (attribute == umaprobe::kAttrComputeCapabilityMajor) *value = major;
  if (attribute == umaprobe::kAttrComputeCapabilityMinor) *value = minor;
  if (attribute == umaprobe::kAttrPciDomainId) *value = static_cast<int>(pci.domain);
  if (attribute == umaprobe::kAttrPciBusId) *value = static_cast<int>(pci.bus);
  if (attribute == umaprobe::kAttrPciDeviceId) *value = static_cast<int>(pci.device);
  return true;
}

}  // namespace umasim
