// Finds the processes that map given files, from /proc/<pid>/maps.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/failure.h"
#include "base/values.h"
#include "runtime/call_context.h"

namespace umaprobe {

// NativeMappings of lib/native/contract.ts.
struct Mappings {
  Numbers files;  // dev, ino, pid, locked (0 or 1) of each mapping
  double unreadable = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("files", files);
    field("unreadable", unreadable);
  }
};

// Device numbers by inode number, as fstat(2) reports them. Stored as JavaScript numbers: above
// 2^53 neighbours are indistinguishable here as they are in JavaScript.
using Inodes = std::unordered_map<double, std::vector<double>>;

// One line of maps, or the header line of an smaps entry.
struct MapsLine {
  uint64_t dev;
  uint64_t ino;
  // Newlines are still escaped as "\012". Empty if the mapping is not a file.
  std::string path;
};
std::optional<MapsLine> parse_maps_line(const char* line, const char* end);

Fact<Mappings> find_mappings(CallContext& context, const Inodes& wanted);

}  // namespace umaprobe
