// Which processes map which files, as /proc/<pid>/maps has it.
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

// NativeMappings of lib/native.types.ts.
struct Mappings {
  Numbers files;  // dev, ino, pid, locked (0 or 1) of each mapping
  double unreadable = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("files", files);
    field("unreadable", unreadable);
  }
};

// Inodes as fstat(2) has them, as JavaScript's numbers: above 2^53 neighbours are one, here as
// there. By inode number, each with its devices.
using Inodes = std::unordered_map<double, std::vector<double>>;

// One line of maps, or the first of an entry of smaps.
struct MapsLine {
  uint64_t dev;
  uint64_t ino;
  // With "\012" for newlines still in it; empty: not a file.
  std::string path;
};
std::optional<MapsLine> parse_maps_line(const char* line, const char* end);

Fact<Mappings> find_mappings(CallContext& context, const Inodes& wanted);

}  // namespace umaprobe
