#include "sim/gpu/kernel_images.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

constexpr int kInvalidImage = 200, kNoBinaryForGpu = 209;

bool is_binary(const char* image) {
  constexpr char kElf[] = "\177ELF", kFatBinary[] = "\x50\xed\x55\xba";
  return std::strncmp(image, kElf, 4) == 0 || std::strncmp(image, kFatBinary, 4) == 0;
}

std::string without_comments(const char* text) {
  std::string out;
  while (*text != '\0') {
    if (std::strncmp(text, "//", 2) == 0) {
      text += std::strcspn(text, "\n");
    } else if (std::strncmp(text, "/*", 2) == 0) {
      const char* end = std::strstr(text + 2, "*/");
      text = end == nullptr ? text + std::strlen(text) : end + 2;
      out += ' ';
    } else {
      out += *text++;
    }
  }
  return out;
}

// Splits a text at white space and commas.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens(1);
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',';
    if (!space) tokens.back() += c;
    if (space && !tokens.back().empty()) tokens.emplace_back();
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

// Counts the parameters of a list such as ".param .u64 base, .param .u64 bytes"; -1 if not all are
// 64-bit numbers.
int count_u64_parameters(const std::string& list) {
  int count = 0, declared = 0;
  const std::vector<std::string> tokens = tokens_of(list);
  for (size_t i = 0; i < tokens.size(); i++) {
    if (tokens[i] != ".param") continue;
    declared++;
    const std::string type = i + 1 < tokens.size() ? tokens[i + 1] : "";
    if (type == ".u64" || type == ".b64" || type == ".s64") count++;
  }
  return count == declared ? count : -1;
}

KernelFunction function_at(const std::string& text, size_t entry) {
  const size_t open = text.find('(', entry), body = text.find('{', entry);
  const size_t end_of_name = std::min(open, body);
  const std::vector<std::string> name = tokens_of(text.substr(entry, end_of_name - entry));
  const size_t close = open < body ? text.find(')', open) : std::string::npos;
  const std::string list =
      close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
  return {nullptr, name.empty() ? "" : name[0], count_u64_parameters(list)};
}

}  // namespace

int read_image(const Device& device, const char* image, std::vector<KernelFunction>* functions) {
  constexpr char kTarget[] = ".target sm_", kEntry[] = ".entry";
  if (is_binary(image)) return kNoBinaryForGpu;
  const std::string text = without_comments(image);
  const size_t target = text.find(kTarget);
  if (text.find(".version") == std::string::npos || target == std::string::npos) {
    return kInvalidImage;
  }
  const int wanted = std::atoi(text.c_str() + target + std::strlen(kTarget));
  int major, minor;
  compute_capability(device, &major, &minor);
  if (wanted > major * 10 + minor) return kNoBinaryForGpu;
  for (size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at + 1)) {
    functions->push_back(function_at(text, at + std::strlen(kEntry)));
  }
  return 0;
}

}  // namespace umasim
