// Names of status numbers, and the sentence made of one.
#pragma once

#include <string>

#include "base/failure.h"

namespace umaprobe {

struct StatusName {
  int status;
  const char* name;
};

// Our own table rather than the library's: libcuda's stub answers even cuGetErrorName with an
// error. A number that is not in the table keeps itself: "CUDA_ERROR_718".
template <size_t Rows>
std::string status_name(const StatusName (&table)[Rows], int status, const char* prefix) {
  for (const StatusName& row : table) {
    if (row.status == status) return row.name;
  }
  return prefix + std::to_string(status);
}

// `words`: the library's own explanation, or null.
inline Failure status_failure(const char* source, const char* call, int status, std::string name,
                              const char* words) {
  return {source, call, status, std::move(name), words ? words : ""};
}

}  // namespace umaprobe
