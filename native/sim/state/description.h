// The flat form of a machine file: "path value" lines. A line that nobody reads is an error, so a
// field that the schema allows and this library ignores is noticed.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace umasim {

class Description {
 public:
  explicit Description(const char* text);

  // Each reads the value of a path. It records a message and leaves `out` unchanged on an error.
  void number(const std::string& path, double* out);
  void share(const std::string& path, double* out);  // from 0 to 1
  void integer(const std::string& path, int64_t* out);
  void bytes(const std::string& path, uint64_t* out);
  void boolean(const std::string& path, bool* out);
  std::string value(const std::string& path);
  template <size_t N>
  void text(const std::string& path, char (&out)[N]) {
    const std::string text = value(path);
    if (text.size() >= N) return fail(path + " is longer than " + std::to_string(N - 1) + " bytes");
    std::memcpy(out, text.c_str(), text.size() + 1);
  }
  // The index of the value in `choices`.
  template <size_t N>
  int choice(const std::string& path, const char* const (&choices)[N]) {
    const std::string choice = value(path);
    std::string expected;
    for (size_t i = 0; i < N; i++) {
      if (choice == choices[i]) return static_cast<int>(i);
      expected += std::string(i == 0 ? "" : ", ") + choices[i];
    }
    fail(path + " is \"" + choice + "\"; expected one of " + expected);
    return 0;
  }
  // The value, or `fallback` for a null, which the flat form omits.
  uint64_t bytes_or(const std::string& path, uint64_t fallback);
  // Returns whether the path is a leaf or has leaves below it.
  bool has(const std::string& path) const;
  // Marks leaves that do not concern the simulator as read.
  void ignore(const std::string& prefix);

  void fail(const std::string& message);
  // The first error, else the first unread leaf, else empty.
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
