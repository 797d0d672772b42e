#include "run/supervisor/options.h"

#include <algorithm>
#include <string_view>

#include "base/digits.h"

namespace umaprobe {
namespace {

std::string parse_target(std::string_view text, SupervisorOptions& options) {
  const std::string shown = "--target=" + std::string(text);
  if (text == "system") {
    options.target_system = true;
  } else if (take_prefix(text, "pid:")) {
    const auto pid = take_digits(text, 10, 1u << 30);
    if (!pid || *pid < 2 || !text.empty()) return shown + ": expected pid:N";
    options.target_pid = static_cast<pid_t>(*pid);
  } else if (take_prefix(text, "cgroup:") && text.substr(0, 1) == "/") {
    options.target_cgroup = text;
  } else {
    return shown + ": expected pid:N, cgroup:/PATH or system";
  }
  return "";
}

std::string parse_load(std::string_view text, SupervisorOptions& options) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word == "drop") {
      options.drop = true;
    } else if (word == "compact") {
      options.compact = true;
    } else {
      return "--load=" + std::string(text) + ": expected drop, compact, both or nothing";
    }
  }
  return "";
}

// Stores `text` where a row of `rows` has this name; false: none has.
template <class Values, size_t kRows>
bool parse_number(const Given<Values> (&rows)[kRows], std::string_view name, std::string_view text,
                  Values& values, std::string& wrong) {
  const auto row =
      std::find_if(rows, rows + kRows, [&](const auto& given) { return given.name == name; });
  if (row == rows + kRows) return false;
  const std::string shown = "--" + std::string(name) + "=" + std::string(text);
  const auto number = take_decimal(text);
  if (number && text.empty() && *number >= row->least && *number <= row->most) {
    values.*row->value = *number * row->scale;
  } else {
    wrong = shown + ": expected " + range_of(*row);
  }
  return true;
}

}  // namespace

std::variant<SupervisorOptions, std::string> parse_options(int argc, char** argv) {
  SupervisorOptions options;
  ProgramOptions given;
  int modes = 0;
  int at = 1;
  for (; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    std::string_view text = argv[at];
    const size_t equals = text.find('=');
    if (!take_prefix(text, "--") || equals == std::string_view::npos)
      return "\"" + std::string(argv[at]) + "\": expected --name=value, or -- and a command";
    const std::string_view name = text.substr(0, equals - 2);
    const std::string_view value = text.substr(equals - 1);
    std::string wrong;
    if (name == text_word::kTarget) {
      modes++;
      wrong = parse_target(value, options);
    } else if (name == text_word::kReplay) {
      modes++;
      options.replay = value;
      if (value.empty()) wrong = "--replay=: expected a file";
    } else if (name == text_word::kLoad) {
      wrong = parse_load(value, options);
    } else if (!parse_number(kProgramRules, name, value, options.rules, wrong) &&
               !parse_number(kProgramOptions, name, value, given, wrong)) {
      return "--" + std::string(name) + " is not an option";
    }
    if (!wrong.empty()) return wrong;
  }
  const auto integer = [](double value, int otherwise) {
    return known(value) ? static_cast<int>(value) : otherwise;
  };
  if (at < argc) ++at;
  if (const int words = integer(given.notify_words, 0); words > 0) {
    if (words > argc - at) return "--notifyWords is more than there are words after --";
    options.notify.assign(argv + at, argv + at + words);
    at += words;
  }
  if (at < argc) {
    modes++;
    options.command = argv + at;
  }
  for (const Given<ProgramRules>& rule : kProgramRules) {
    if (!known(options.rules.*rule.value))
      return "--" + std::string(rule.name) + " is missing: expected " + range_of(rule);
  }
  if (options.rules.kill_below > options.rules.floor)
    return "--killBelowBytes is above --floorBytes: memory that is critical is below the floor";
  if (modes != 1) return "expected one of -- COMMAND, --target and --replay";
  options.act = given.act != 0;
  options.tty = given.tty == 1;
  options.open_files = given.open_files;
  options.ignore_hangup = given.ignore_hangup == 1;
  options.report_fd = integer(given.report_fd, -1);
  options.control_fd = integer(given.control_fd, -1);
  options.signals_fd = integer(given.signals_fd, -1);
  options.readings_fd = integer(given.readings_fd, -1);
  options.parent = integer(given.parent, 0);
  options.nicer = integer(given.nicer, 0);
  return options;
}

}  // namespace umaprobe
