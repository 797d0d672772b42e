// What is in an allocation. Each has an address range of its own that nobody backs until it is
// written, so that a simulated 100 GiB fits into a small test machine. Filling a large range with a
// pattern maps one small file with that pattern over it again and again: every byte reads back, by
// cudaMemcpy or through the pointer, and none takes memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace umasim {

// Null when there is no such address range (a size beyond all address space).
void* map_content(uint64_t size);
void unmap_content(void* address, uint64_t size);
// Repeats a pattern of four bytes.
void fill_content(void* address, uint64_t size, uint32_t pattern);

}  // namespace umasim
