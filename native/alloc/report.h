// The reports of the allocator.
//
// Each struct names its fields to a visitor as lib/core/native/contract.ts names them:
// field(name, value) leaves out an unset value, field.nullable(name, value) reports it as null.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alloc/kinds.h"
#include "base/failure.h"
#include "cuda/report.h"

namespace umaprobe {

// Reports, for each kind of memory, the function that allocates it, or why the kind is not
// supported.
struct KindsReport {
  struct Row {
    const Kind* kind;
    Fact<std::string> call;
  };
  std::vector<Row> rows;

  template <class Visitor>
  void visit(Visitor& field) const {
    for (const Row& row : rows) field(row.kind->name, row.call);
  }
};

struct AllocatorReport {
  KindsReport kinds;
  Fact<std::string> patternKernels;  // "kernel", or why blocks are filled by memset instead
  Fact<FreeAndTotal> memGetInfo;
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("kinds", kinds);
    field("kernel", patternKernels);
    field("memGetInfo", memGetInfo);
    field("durationMs", durationMs);
  }
};

struct Allocated {
  int block = 0;
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("block", block);
    field("durationMs", durationMs);
  }
};

struct Verified {
  double durationMs = 0;
  double mismatches = 0;
  std::optional<double> firstMismatch;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
    field("mismatches", mismatches);
    field.nullable("firstMismatch", firstMismatch);
  }
};

struct Freed {
  double durationMs = 0;
  int blocks = 0;
  double bytes = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
    field("blocks", blocks);
    field("bytes", bytes);
  }
};

}  // namespace umaprobe
