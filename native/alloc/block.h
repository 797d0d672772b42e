// One allocation. The destructor frees it; it must run on the CUDA worker thread.
#pragma once

#include "alloc/kinds.h"

namespace umaprobe {

class Block {
 public:
  // `api` must outlive the block.
  Block(const Kind& kind, const AllocatorApi& api, void* address, size_t bytes)
      : kind_(&kind), api_(&api), address_(address), bytes_(bytes), populated_(kind.eager) {}
  ~Block() {
    CallContext unwatched(/*watched=*/false);
    free(unwatched);
  }
  Block(Block&& other) noexcept
      : kind_(other.kind_),
        api_(other.api_),
        address_(std::exchange(other.address_, nullptr)),
        bytes_(other.bytes_),
        populated_(other.populated_) {}
  Block& operator=(Block&&) = delete;

  // A block whose free failed counts as still allocated.
  std::optional<Failure> free(CallContext& context) {
    if (!address_) return std::nullopt;
    auto failure = kind_->free(context, *api_, address_, bytes_);
    if (!failure) address_ = nullptr;
    return failure;
  }

  void* at(uint64_t offset) const { return static_cast<unsigned char*>(address_) + offset; }
  size_t bytes() const { return bytes_; }
  // Returns whether every page is present.
  bool populated() const { return populated_; }
  void set_populated() { populated_ = true; }

 private:
  const Kind* kind_;
  const AllocatorApi* api_;
  void* address_;
  size_t bytes_;
  bool populated_;
};

}  // namespace umaprobe
