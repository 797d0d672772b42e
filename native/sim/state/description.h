// The flat form of a machine file: "path value" lines. Every line must be asked for by somebody, so
// that a key the schema knows and this library does not is an error and not silence.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace umasim {

class Description {
 public:
  explicit Description(const char* text);

  // Each takes the value of a path, or notes an error and leaves `out` alone.
  void number(const std::string& path, double* out);
  void integer(const std::string& path, int64_t* out);
  void bytes(const std::string& path, uint64_t* out);
  void boolean(const std::string& path, bool* out);
  std::string word(const std::string& path);
  template <size_t N>
  void text(const std::string& path, char (&out)[N]) {
    const std::string value = word(path);
    if (value.size() >= N)
      return fail(path + " is longer than " + std::to_string(N - 1) + " bytes");
    std::memcpy(out, value.c_str(), value.size() + 1);
  }
  // Whether there is such a leaf, or anything under it.
  bool has(const std::string& path) const;
  // For leaves that mean nothing to the simulator.
  void ignore(const std::string& prefix);

  void fail(const std::string& message);
  // The first error, or a leaf that nobody asked for; empty when all is well.
  std::string error() const;

 private:
  struct Leaf {
    std::string value;
    bool used;
  };
  const std::string* find(const std::string& path);
  std::map<std::string, Leaf> leaves_;
  std::string error_;
};

}  // namespace umasim
