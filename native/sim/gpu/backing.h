// The address ranges and contents of allocations. A range has no memory until it is written, so a
// simulated 100 GiB fits on a small test machine. A large fill maps one small file with the pattern
// over the range again and again: every byte reads back, by cudaMemcpy or through a pointer, and
// none takes memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace umasim {

// Returns null if the size exceeds the address space.
void* map_backing(uint64_t size);
void unmap_backing(void* address, uint64_t size);
// Repeats a pattern of four bytes.
void fill_backing(void* address, uint64_t size, uint32_t pattern);

}  // namespace umasim
