// A failed call as plain fields. lib/base/errors.ts decides what a failure means.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace umaprobe {

struct Failure {
  // The part that failed: "cudart", "cuda", "nvml", "kernel", "dl", "sim" or "umaprobe".
  const char* source;
  // The function or file: "nvmlInit_v2", "open /proc/pressure/memory".
  std::string call;
  // The status number it returned, if any.
  std::optional<int> status;
  // The official name of the status: "NOT_SUPPORTED", "ENOENT", "TIMEOUT".
  std::string name;
  // The source's explanation; may be empty. Does not repeat call, name or status.
  std::string message;
};

// A reading, or the reason why it failed.
template <class T>
using Fact = std::variant<T, Failure>;

// A fact that may not have been read before the deadline.
template <class T>
using Maybe = std::optional<Fact<T>>;

template <class T>
const Failure* failure_of(const Fact<T>& fact) {
  return std::get_if<Failure>(&fact);
}

// `value` if `failure` is empty. Takes the failure by reference so that fact(call(..., &value),
// value), which might copy the value before the call, does not compile.
template <class T>
Fact<T> fact(std::optional<Failure>& failure, T value) {
  if (failure) return std::move(*failure);
  return value;
}

// A failed system call. `call` names function and path ("open /proc/meminfo"); `error` is an errno
// value, positive.
Failure errno_failure(const char* source, const std::string& call, int error);

struct StatusName {
  int status;
  const char* name;
};

// Looks up a status in a table instead of asking the library: libcuda's stub fails even in
// cuGetErrorName. An unknown status is named by its number: "CUDA_ERROR_718".
template <size_t Rows>
std::string status_name(const StatusName (&table)[Rows], int status, const char* prefix) {
  for (const StatusName& row : table) {
    if (row.status == status) return row.name;
  }
  return prefix + std::to_string(status);
}

// `explanation`: the library's text, or null.
inline Failure status_failure(const char* source, const char* call, int status, std::string name,
                              const char* explanation) {
  return {source, call, status, std::move(name), explanation ? explanation : ""};
}

}  // namespace umaprobe
