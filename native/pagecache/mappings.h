// Finds the processes that map given files, from /proc/<pid>/maps.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/failure.h"
#include "base/values.h"
#include "runtime/call_context.h"

namespace umaprobe {

// NativeMappings of lib/core/native/contract.ts.
struct Mappings {
  Numbers files;  // dev, ino, pid, locked (0 or 1) of each mapping
  double unreadable = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("files", files);
    field("unreadable", unreadable);
  }
};

// Device numbers by inode number, as fstat(2) reports them. They are JavaScript numbers: neighbours
// above 2^53 are indistinguishable here as they are in JavaScript.
using Inodes = std::unordered_map<double, std::vector<double>>;

Fact<Mappings> find_mappings(CallContext& context, const Inodes& wanted);

}  // namespace umaprobe
