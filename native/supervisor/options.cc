#include "supervisor/options.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/digits.h"

namespace umaprobe {
namespace {

// A number on the command line: an integer from `least` to `most`, stored as `scale` times that.
struct Key {
  std::string_view name;
  double* value;
  double scale;
  uint64_t least, most;
  bool required;
  bool seen;
};

std::string range(const Key& key) {
  return "an integer from " + std::to_string(key.least) + " to " + std::to_string(key.most);
}

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

}  // namespace

std::variant<SupervisorOptions, std::string> parse_options(int argc, char** argv) {
  SupervisorOptions options;
  Rules& rules = options.rules;
  ReadEvery& every = options.read_every;
  double act = 1, tty = 0, report_fd = -1, control_fd = -1, readings_fd = -1, parent = 0;
  constexpr uint64_t kDayMs = 86'400'000;
  Key keys[] = {
      {"floor", &rules.floor, 1, 0, kMaxExactInteger, true, false},
      {"kill-below", &rules.kill_below, 1, 0, kMaxExactInteger, true, false},
      {"horizon-ms", &rules.horizon, 1e-3, 0, kDayMs, true, false},
      {"kill-horizon-ms", &rules.kill_horizon, 1e-3, 0, kDayMs, true, false},
      {"near", &rules.near, 1, 1, kMaxExactInteger, false, false},
      {"slope-ms", &rules.slope_for, 1e-3, 10, 10'000, true, false},
      {"min-fall", &rules.min_fall, 1, 1, kMaxExactInteger, true, false},
      {"low-for-ms", &rules.low_for, 1e-3, 1, kDayMs, true, false},
      {"pressure-full", &rules.pressure_full, 1, 1, 100, true, false},
      {"pressure-for-ms", &rules.pressure_for, 1e-3, 1, kDayMs, true, false},
      {"min-blocks", &rules.min_blocks, 1, 0, kMaxExactInteger, true, false},
      {"read-available-ms", &every.available, 1e-3, 1, kDayMs, true, false},
      {"read-available-near-ms", &every.available_near, 1e-3, 1, kDayMs, true, false},
      {"read-near-free", &every.near_free, 1, 0, kMaxExactInteger, true, false},
      {"read-moved", &every.moved, 1, 1, kMaxExactInteger, true, false},
      {"read-pressure-ms", &every.pressure, 1e-3, 1, kDayMs, true, false},
      {"read-blocks-ms", &every.blocks, 1e-3, 1, kDayMs, true, false},
      {"read-group-ms", &every.group, 1e-3, 1, kDayMs, true, false},
      {"read-group-urgent-ms", &every.group_urgent, 1e-3, 1, kDayMs, true, false},
      {"interval-us", &options.interval, 1e-6, 1000, 1'000'000, true, false},
      {"grace-ms", &options.grace, 1e-3, 0, kDayMs, true, false},
      {"report-ms", &options.report, 1e-3, 1, kDayMs, false, false},
      {"load-free", &options.load_free, 1, 0, kMaxExactInteger, false, false},
      {"load-every-ms", &options.load_every, 1e-3, 10, kDayMs, false, false},
      {"act", &act, 1, 0, 1, false, false},
      {"tty", &tty, 1, 0, 1, false, false},
      {"report-fd", &report_fd, 1, 0, 1u << 20, false, false},
      {"control-fd", &control_fd, 1, 0, 1u << 20, false, false},
      {"readings-fd", &readings_fd, 1, 0, 1u << 20, false, false},
      {"parent", &parent, 1, 0, 1u << 30, false, false},
  };
  int modes = 0;
  int at = 1;
  for (; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    std::string_view text = argv[at];
    const size_t equals = text.find('=');
    if (!take_prefix(text, "--") || equals == std::string_view::npos)
      return "\"" + std::string(argv[at]) + "\": expected --key=value, or -- and a command";
    const std::string_view name = text.substr(0, equals - 2);
    std::string_view value = text.substr(equals - 1);
    std::string wrong;
    if (name == "target") {
      modes++;
      wrong = parse_target(value, options);
    } else if (name == "replay") {
      modes++;
      options.replay = value;
      if (value.empty()) wrong = "--replay=: expected a file";
    } else if (name == "load") {
      wrong = parse_load(value, options);
    } else {
      const auto key = std::find_if(std::begin(keys), std::end(keys),
                                    [&](const Key& k) { return k.name == name; });
      if (key == std::end(keys)) return "--" + std::string(name) + " is not an option";
      const auto number = take_digits(value, 10, key->most);
      if (!number || *number < key->least || !value.empty())
        return std::string(argv[at]) + ": expected " + range(*key);
      *key->value = static_cast<double>(*number) * key->scale;
      key->seen = true;
    }
    if (!wrong.empty()) return wrong;
  }
  if (at < argc && ++at < argc) {
    modes++;
    options.command = argv + at;
  }
  for (const Key& key : keys) {
    if (key.required && !key.seen)
      return "--" + std::string(key.name) + " is missing: expected " + range(key);
  }
  if (rules.kill_below > rules.floor)
    return "--kill-below is above --floor: memory that is critical is below the floor";
  if (modes != 1) return "expected one of -- COMMAND, --target and --replay";
  options.act = act != 0;
  options.tty = tty != 0;
  options.report_fd = static_cast<int>(report_fd);
  options.control_fd = static_cast<int>(control_fd);
  options.readings_fd = static_cast<int>(readings_fd);
  options.parent = static_cast<pid_t>(parent);
  return options;
}

}  // namespace umaprobe
