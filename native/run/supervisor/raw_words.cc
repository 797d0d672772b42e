#include "run/supervisor/raw_words.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace umaprobe {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_replaced(std::string_view word) { return word.find(kReplacement) != word.npos; }

// Reads the null-terminated texts of a file of /proc. They are never freed, because the program
// gets them.
const std::string& read_words(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return *new std::string(std::istreambuf_iterator<char>(file), {});
}

template <class Use>
void each_word(const std::string& text, Use use) {
  for (size_t at = 0; at < text.size(); at += std::strlen(text.c_str() + at) + 1)
    use(const_cast<char*>(text.c_str()) + at);
}

void restore_command(pid_t parent, char** command) {
  size_t count = 0;
  bool any = false;
  for (; command[count]; ++count) any = any || is_replaced(command[count]);
  if (!any) return;
  std::vector<char*> theirs;
  each_word(read_words(parent, "cmdline"), [&](char* word) { theirs.push_back(word); });
  if (theirs.size() < count) return;
  char** const last = theirs.data() + theirs.size() - count;
  for (size_t at = 0; at < count; ++at) {
    if (!is_replaced(command[at]) && std::strcmp(command[at], last[at]) != 0) return;
  }
  for (size_t at = 0; at < count; ++at) command[at] = last[at];
}

void restore_environment(pid_t parent) {
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view ours = *variable;
    if (!is_replaced(ours)) continue;
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    each_word(read_words(parent, "environ"), [&](char* theirs) {
      if (std::string_view(theirs).substr(0, name.size()) == name) *variable = theirs;
    });
  }
}

}  // namespace

void restore_bytes(pid_t parent, char** command) {
  if (parent == 0 || parent != ::getppid()) return;
  restore_command(parent, command);
  restore_environment(parent);
}

}  // namespace umaprobe
