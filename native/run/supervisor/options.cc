#include "run/supervisor/options.h"

#include <algorithm>
#include <string_view>

#include "base/given.h"

namespace umaprobe {
namespace {

constexpr double kMostFd = 1 << 20, kMostPid = 1 << 30;

// These rules must all be given.
constexpr Given<Rules> kNeeded[] = {
    {"floorBytes", &Rules::floor_bytes, 1, 0, kMostBytes},
    {"killBelowBytes", &Rules::kill_below_bytes, 1, 0, kMostBytes},
    {"intervalMs", &Rules::interval_s, 1e-3, 1, 1000},
    {"graceMs", &Rules::grace_s, 1e-3, 0, kDayMs},
};

struct Switches {
  double act = 1, notify_words = 0;
};
constexpr Given<Switches> kSwitches[] = {
    {"act", &Switches::act, 1, 0, 1},
    {"notifyWords", &Switches::notify_words, 1, 0, 4096},
};

constexpr Given<LoadOptions> kLoad[] = {
    {"drop", &LoadOptions::drop, 1, 0, 1},
    {"compact", &LoadOptions::compact, 1, 0, 1},
    {"free", &LoadOptions::free_bytes, 1, 0, kMostBytes},
    {"step", &LoadOptions::step_bytes, 1, 1, kMostBytes},
    {"least", &LoadOptions::least_bytes, 1, 0, kMostBytes},
};
constexpr Given<Descriptors, int> kFds[] = {
    {"report", &Descriptors::report, 1, 0, kMostFd},
    {"control", &Descriptors::control, 1, 0, kMostFd},
    {"signals", &Descriptors::signals, 1, 0, kMostFd},
    {"readings", &Descriptors::readings, 1, 0, kMostFd},
};
constexpr Given<ProgramOptions, int> kProgram[] = {
    {"tty", &ProgramOptions::tty, 1, 0, 1},
    {"parent", &ProgramOptions::parent, 1, 0, kMostPid},
    {"openFiles", &ProgramOptions::open_files, 1, 0, 1 << 30},
    {"nohup", &ProgramOptions::nohup, 1, 0, 1},
    {"nicer", &ProgramOptions::nicer, 1, 0, 1},
};

std::string parse_target(std::string_view text, SupervisorOptions& options) {
  if (text == "system") {
    options.target_system = true;
  } else if (take_prefix(text, "pid:")) {
    const auto pid = take_digits(text, 10, 1u << 30);
    if (!pid || *pid < 2 || !text.empty()) return "expected pid:N";
    options.target_pid = static_cast<pid_t>(*pid);
  } else if (take_prefix(text, "cgroup:") && text.substr(0, 1) == "/") {
    options.target_cgroup = text;
  } else {
    return "expected pid:N, cgroup:/PATH or system";
  }
  return "";
}

// "drop,step:4096": a word alone is 1.
template <class Values, class Number, size_t kRows>
std::string parse_list(const Given<Values, Number> (&rows)[kRows], std::string_view text,
                       Values& values) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::string_view name = word.substr(0, word.find(':'));
    const std::string_view number = name == word ? "1" : word.substr(name.size() + 1);
    std::string wrong;
    if (store(rows, name, number, values, wrong) && wrong.empty()) continue;
    if (!wrong.empty()) return std::string(word) + ": " + wrong;
    wrong = "\"" + std::string(name) + "\" is none of";
    for (const auto& row : rows) wrong += std::string(" ") + row.name;
    return wrong;
  }
  return "";
}

// Returns what is wrong with the value. `is_option`: there is an option of this name.
std::string parse_option(std::string_view name, std::string_view value, SupervisorOptions& options,
                         Switches& switches, bool& is_option) {
  std::string wrong;
  if (name == "target") return parse_target(value, options);
  if (name == "load") return parse_list(kLoad, value, options.load);
  if (name == "fds") return parse_list(kFds, value, options.fds);
  if (name == "program") return parse_list(kProgram, value, options.program);
  if (name == "replay") {
    options.replay = value;
    return value.empty() ? "expected a file" : "";
  }
  is_option = store(kNeeded, name, value, options.rules, wrong) ||
              store(kSwitches, name, value, switches, wrong);
  return wrong;
}

std::string missing(const SupervisorOptions& options) {
  for (const Given<Rules>& rule : kNeeded) {
    if (!known(options.rules.*rule.value))
      return "--" + std::string(rule.name) + " is missing: expected " + range_of(rule);
  }
  for (const Given<LoadOptions>& row : kLoad) {
    if (options.command && !known(options.load.*row.value))
      return "--load has no " + std::string(row.name) + ": expected " + range_of(row);
  }
  return "";
}

}  // namespace

std::variant<SupervisorOptions, std::string> parse_options(int argc, char** argv) {
  SupervisorOptions options;
  Switches switches;
  int at = 1;
  for (; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    std::string_view text = argv[at];
    const size_t equals = text.find('=');
    if (!take_prefix(text, "--") || equals == std::string_view::npos)
      return "\"" + std::string(argv[at]) + "\": expected --name=value, or -- and a command";
    const std::string_view name = text.substr(0, equals - 2);
    const std::string_view value = text.substr(equals - 1);
    if (name == "rules") {
      if (std::string wrong = read_rules(std::string(value), options.rules); !wrong.empty())
        return wrong;
      continue;
    }
    bool is_option = true;
    const std::string wrong = parse_option(name, value, options, switches, is_option);
    if (!is_option) return "--" + std::string(name) + " is not an option";
    if (!wrong.empty()) return std::string(argv[at]) + ": " + wrong;
  }
  if (at < argc) ++at;
  if (const int words = static_cast<int>(switches.notify_words); words > 0) {
    if (words > argc - at) return "--notifyWords is more than there are words after --";
    options.notify.assign(argv + at, argv + at + words);
    at += words;
  }
  if (at < argc) options.command = argv + at;
  if (std::string wrong = missing(options); !wrong.empty()) return wrong;
  if (options.rules.kill_below_bytes > options.rules.floor_bytes)
    return "--killBelowBytes is above --floorBytes: memory that is critical is below the floor";
  const bool modes[] = {options.command != nullptr, options.target_pid != 0,
                        !options.target_cgroup.empty(), options.target_system,
                        !options.replay.empty()};
  if (std::count(std::begin(modes), std::end(modes), true) != 1)
    return "expected one of -- COMMAND, --target and --replay";
  options.act = switches.act != 0;
  return options;
}

}  // namespace umaprobe
