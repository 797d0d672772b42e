#include "sim/state/description.h"

#include <cerrno>
#include <cstdlib>

namespace umasim {
namespace {

// The largest integer that JavaScript, from which a description comes, holds exactly. The sum of
// all sizes of a machine then fits into 64 bits.
constexpr int64_t kMaxInteger = (1ll << 53) - 1;
// This many milliseconds are 30,000 years: a time in nanoseconds that is computed with it fits into
// a double.
constexpr double kMaxNumber = 1e15;

}  // namespace

Description::Description(const char* text) {
  for (const char* line = text; *line != '\0';) {
    const char* end = std::strchr(line, '\n');
    if (end == nullptr) end = line + std::strlen(line);
    const std::string whole(line, end);
    const size_t space = whole.find(' ');
    if (space != std::string::npos) {
      leaves_[whole.substr(0, space)] = {whole.substr(space + 1), false};
    } else if (!whole.empty()) {
      fail("\"" + whole + "\" is not a \"path value\" line");
    }
    line = *end == '\0' ? end : end + 1;
  }
}

const std::string* Description::find(const std::string& path) {
  const auto leaf = leaves_.find(path);
  if (leaf == leaves_.end()) {
    fail(path + " is missing");
    return nullptr;
  }
  leaf->second.used = true;
  return &leaf->second.value;
}

void Description::number(const std::string& path, double* out) {
  const std::string* value = find(path);
  if (value == nullptr) return;
  char* end = nullptr;
  const double parsed = std::strtod(value->c_str(), &end);
  if (value->empty() || *end != '\0' || !(parsed >= 0 && parsed <= kMaxNumber)) {
    return fail(path + " is \"" + *value + "\"; expected a number from 0 to 1e15");
  }
  *out = parsed;
}

void Description::share(const std::string& path, double* out) {
  double parsed = 0;
  number(path, &parsed);
  if (parsed > 1) return fail(path + " is " + value(path) + "; expected a number from 0 to 1");
  *out = parsed;
}

void Description::integer(const std::string& path, int64_t* out) {
  const std::string* value = find(path);
  if (value == nullptr) return;
  char* end = nullptr;
  errno = 0;
  const long long parsed = std::strtoll(value->c_str(), &end, 10);
  if (value->empty() || *end != '\0' || errno != 0) {
    return fail(path + " is \"" + *value + "\"; expected an integer");
  }
  *out = parsed;
}

void Description::bytes(const std::string& path, uint64_t* out) {
  int64_t value = 0;
  integer(path, &value);
  if (value < 0 || value > kMaxInteger) {
    return fail(path + " is " + std::to_string(value) + "; expected an integer from 0 to " +
                std::to_string(kMaxInteger));
  }
  *out = static_cast<uint64_t>(value);
}

void Description::boolean(const std::string& path, bool* out) {
  const std::string text = value(path);
  if (text != "true" && text != "false") {
    return fail(path + " is \"" + text + "\"; expected true or false");
  }
  *out = text == "true";
}

uint64_t Description::bytes_or(const std::string& path, uint64_t fallback) {
  uint64_t value = fallback;
  if (has(path)) bytes(path, &value);
  return value;
}

std::string Description::value(const std::string& path) {
  const std::string* found = find(path);
  return found == nullptr ? std::string() : *found;
}

bool Description::has(const std::string& path) const {
  const auto at = leaves_.lower_bound(path);
  if (at == leaves_.end()) return false;
  return at->first == path || leaves_.lower_bound(path + ".") != leaves_.lower_bound(path + "/");
}

void Description::ignore(const std::string& prefix) {
  for (auto& leaf : leaves_) {
    const std::string& path = leaf.first;
    if (path == prefix || path.compare(0, prefix.size() + 1, prefix + ".") == 0) {
      leaf.second.used = true;
    }
  }
}

void Description::fail(const std::string& message) {
  if (error_.empty()) error_ = message;
}

std::string Description::error() const {
  if (!error_.empty()) return error_;
  for (const auto& leaf : leaves_) {
    if (!leaf.second.used) return leaf.first + " is not a field of a machine";
  }
  return {};
}

}  // namespace umasim
