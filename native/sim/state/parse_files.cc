// Parses the files of a machine whose text or behaviour its description replaces.
#include <cerrno>
#include <cstring>
#include <string>

#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

struct Error {
  const char* name;
  int number;
};
constexpr Error kErrors[] = {{"EACCES", EACCES},
                             {"EPERM", EPERM},
                             {"EIO", EIO},
                             {"ENODEV", ENODEV},
                             {"EOPNOTSUPP", EOPNOTSUPP}};

// The inverse of the escapes in lib/sim/machine.ts: \n, \r, \0 and \\.
std::string unescaped(const std::string& escaped) {
  std::string text;
  for (size_t i = 0; i < escaped.size(); i++) {
    if (escaped[i] != '\\' || i + 1 == escaped.size()) {
      text += escaped[i];
      continue;
    }
    i++;
    const char letter = escaped[i];
    text += letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter == '0' ? '\0' : letter;
  }
  return text;
}

int parse_error(Description& in, const std::string& path) {
  const std::string name = in.value(path);
  std::string expected;
  for (const Error& error : kErrors) {
    if (name == error.name) return error.number;
    expected += std::string(expected.empty() ? "" : ", ") + error.name;
  }
  in.fail(path + " is \"" + name + "\"; expected one of " + expected);
  return 0;
}

void parse_text(Description& in, const std::string& path, Machine& machine, ReplacedFile& file) {
  const std::string text = unescaped(in.value(path));
  if (text.size() > sizeof machine.file_texts - machine.file_texts_used) {
    return in.fail(path + " has " + std::to_string(text.size()) + " bytes; all texts of files " +
                   "together may have " + std::to_string(sizeof machine.file_texts));
  }
  file.answer = FileAnswer::kText;
  file.text_begin = machine.file_texts_used;
  file.text_size = text.size();
  std::memcpy(machine.file_texts + file.text_begin, text.data(), text.size());
  machine.file_texts_used += text.size();
}

void parse_file(Description& in, const std::string& at, Machine& machine, ReplacedFile& file) {
  in.text(at + "path", file.path);
  const bool has_text = in.has(at + "text"), has_error = in.has(at + "error");
  bool missing = false;
  if (in.has(at + "missing")) in.boolean(at + "missing", &missing);
  if (int{has_text} + int{has_error} + int{missing} > 1) {
    return in.fail(at + "path has more than one of text, error and missing");
  }
  if (has_text) parse_text(in, at + "text", machine, file);
  if (missing) file.answer = FileAnswer::kMissing;
  if (has_error) {
    file.answer = FileAnswer::kError;
    file.error = parse_error(in, at + "error");
  }
  if (in.has(at + "hangMs")) in.number(at + "hangMs", &file.hang_ms);
}

}  // namespace

void parse_files(Description& in, Machine& machine) {
  for (int& i = machine.file_count; in.has("files." + std::to_string(i)); i++) {
    if (i == kMaxFiles) return in.fail("files has more than 32 entries");
    parse_file(in, "files." + std::to_string(i) + ".", machine, machine.files[i]);
  }
}

}  // namespace umasim
