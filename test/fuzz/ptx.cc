// Texts that a program gives to cuModuleLoadData(): the declarations of their kernels.
#include <cctype>
#include <cstring>

#include "check.h"
#include "sim/gpu/kernel_images.h"

namespace {

constexpr int kInvalidImage = 200, kNoBinaryForGpu = 209;

struct Answer {
  int status;
  std::vector<umasim::KernelFunction> functions;
};

Answer read(const std::string& text) {
  umasim::Device device{};
  std::snprintf(device.compute_capability, sizeof device.compute_capability, "12.1");
  Answer answer;
  answer.status = umasim::read_image(device, text.c_str(), &answer.functions);
  return answer;
}

bool same(const Answer& one, const Answer& other) {
  if (one.status != other.status || one.functions.size() != other.functions.size()) return false;
  for (size_t i = 0; i < one.functions.size(); i++) {
    if (one.functions[i].name != other.functions[i].name) return false;
    if (one.functions[i].u64_parameters != other.functions[i].u64_parameters) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A C string ends at its first NUL.
  std::string text(reinterpret_cast<const char*>(data), size);
  text.resize(std::strlen(text.c_str()));
  const Answer answer = read(text);
  PROPERTY(answer.status == 0 || answer.status == kInvalidImage ||
           answer.status == kNoBinaryForGpu);
  PROPERTY(answer.status == 0 || answer.functions.empty());
  for (const umasim::KernelFunction& function : answer.functions) {
    PROPERTY(function.u64_parameters >= -1);
    for (const char c : function.name) {
      PROPERTY(std::isspace(static_cast<unsigned char>(c)) == 0 && c != ',');
    }
  }
  // A comment changes nothing, in front of a text and behind it.
  const bool binary = text.rfind("\177ELF", 0) == 0 || text.rfind("\x50\xed\x55\xba", 0) == 0;
  if (!binary) PROPERTY(same(read("/* .entry x( */ // .target sm_1\n" + text), answer));
  if (text.find('/') == std::string::npos) PROPERTY(same(read(text + "\n// .entry y("), answer));
  return 0;
}
