// What went wrong, as plain fields. The meaning of a failure is decided in lib/errors.ts, not here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace umaprobe {

struct Failure {
  // Who said no: "cudart", "cuda", "nvml", "kernel", "dl", "sim" or "umaprobe".
  const char* source;
  // The function or file: "nvmlInit_v2", "open /proc/pressure/memory".
  std::string call;
  // The number it answered, where there is one.
  std::optional<int> status;
  // The field's own name of that number: "NOT_SUPPORTED", "ENOENT", "TIMEOUT".
  std::string name;
  // In the words of who said no; may be empty. call, name and status are not repeated in it.
  std::string message;
};

// A reading, or why it could not be had.
template <class T>
using Fact = std::variant<T, Failure>;

// A fact that may not have been reached before the deadline.
template <class T>
using Maybe = std::optional<Fact<T>>;

template <class T>
const Failure* failure_of(const Fact<T>& fact) {
  return std::get_if<Failure>(&fact);
}

// `value` where `failure` is empty. Takes the failure by reference so that fact(ask(..., &value),
// value), which would read the value before the call, does not compile.
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
                              const char* text) {
  return {source, call, status, std::move(name), text ? text : ""};
}

}  // namespace umaprobe
