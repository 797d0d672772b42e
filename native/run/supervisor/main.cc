// umaprobe-guard: runs a program, watches the machine's memory, and stops the program before the
// machine freezes. It needs no JavaScript: umaprobe may be blocked, stopped or killed.
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <vector>

#include "base/end_by_signal.h"
#include "machine/process_machine.h"
#include "run/supervisor/command.h"
#include "run/supervisor/options.h"
#include "run/supervisor/protection.h"
#include "run/supervisor/replay.h"
#include "run/supervisor/watch.h"

namespace umaprobe {
namespace {

// Exit codes, as shells have them: the command was not found, cannot be run. 1: the machine cannot
// be watched.
constexpr int kUsage = 2, kCannotRun = 126, kNotFound = 127, kFailed = 1;

// Prints nothing if umaprobe reads the report: it tells its user itself.
int complain(const std::string& wrong, int code, bool reported = false) {
  if (reported) return code;
  std::fprintf(stderr, "umaprobe-guard: %s\n", wrong.c_str());
  return code;
}

// The machine of umaprobe's own process, which started this one. The library of a simulated one
// lies beside this program.
MachineConfig machine_config() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string simulator = variable("UMAPROBE_SIM_LIBRARY");
  if (simulator.empty()) {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    const std::string self(path, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    simulator = self.substr(0, self.rfind('/') + 1) + "libumasim.so";
  }
  MachineConfig config = make_machine_config(variable("UMAPROBE_SIM"), simulator);
  if (std::string nvml = variable("UMAPROBE_NVML"); !nvml.empty()) config.nvml = std::move(nvml);
  return config;
}

// Returns the descriptors that are open for the program alone. The guard closes them, so a reader
// of a pipe does not wait for the guard.
std::vector<int> open_for_program(const SupervisorOptions& options) {
  std::vector<int> result;
  constexpr int kMost = 1024;
  const std::initializer_list<int> own = {options.fds.report, options.fds.control,
                                          options.fds.signals, options.fds.readings};
  for (int fd = 3; fd < kMost; ++fd) {
    const bool is_own = std::find(own.begin(), own.end(), fd) != own.end();
    const int flags = is_own ? -1 : ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) result.push_back(fd);
  }
  return result;
}

void report_failure(Report& report, const char* code, const std::string& message) {
  FailedLine line;
  line.code = code;
  line.message = message.c_str();
  report.failed(line);
}

// Blocks every signal that would stop or end the guard, except its own faults, and takes the
// signals that are passed on to the program if somebody sends them here.
Descriptor take_signals(sigset_t& before) {
  sigset_t taken, blocked;
  sigemptyset(&taken);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&taken, number);
  sigfillset(&blocked);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&blocked, number);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  return Descriptor(::signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC));
}

std::string exec_message(const char* file, int error) {
  if (error == ENOENT) return std::string(file) + ": command not found";
  return std::string(file) + ": cannot be run: " + std::strerror(error);
}

// 0, or the exit code: the failure is reported. `priority`: how the guard gets the processor before
// the program.
int open_target(const SupervisorOptions& options, Report& report, const Protection& protection,
                const Job& job, const sigset_t& signals, Target& target, const char*& priority) {
  const auto fail = [&](const char* name, const std::string& message, int code) {
    report_failure(report, name, message);
    return complain(message, code, options.fds.report >= 0);
  };
  if (options.command) {
    restore_bytes(options.program.parent, options.command);
    Cgroup cgroup;
    cgroup.create();
    if (!protection.urgent() && cgroup.has_weight()) priority = priority_word::kCgroup;
    const bool yields = priority == priority_word::kUsual && options.program.nicer != 0;
    if (yields) priority = priority_word::kNice;
    const int nicer = yields ? static_cast<int>(options.rules.program_nicer) : 0;
    pid_t pid = 0;
    const int error = start_command(options, protection, nicer, job, cgroup, signals, pid);
    if (error == 0) {
      target = Target::child(pid, std::move(cgroup), !job.is_shared());
      return 0;
    }
    cgroup.remove();
    const std::string message = exec_message(options.command[0], error);
    return error == ENOENT ? fail("ENOENT", message, kNotFound)
                           : fail("EACCES", message, kCannotRun);
  }
  if (options.target_pid != 0) {
    const int error = Target::process(options.target_pid, target);
    const std::string name = "process " + std::to_string(options.target_pid) + ": ";
    return error == 0 ? 0 : fail("ESRCH", name + std::strerror(error), kFailed);
  }
  if (options.target_system || Target::control_group(options.target_cgroup, target)) return 0;
  return fail("ENOENT", "control group " + options.target_cgroup + ": there is none", kFailed);
}

int guard(const SupervisorOptions& options, Report& report) {
  const std::vector<int> foreign = open_for_program(options);
  const MachineConfig config = machine_config();
  if (const auto failure = enter_machine(config)) {
    report_failure(report, failure->name.c_str(), failure->message);
    return complain(failure->message, kFailed, options.fds.report >= 0);
  }
  const std::unique_ptr<Host> host = open_host(config);
  Notifier notifier;
  if (!options.notify.empty()) {
    if (const int error = notifier.start(options.notify, options.rules.notify_s)) {
      const std::string message =
          std::string("the notifier cannot be started: ") + std::strerror(error);
      report_failure(report, "EAGAIN", message);
      return complain(message, kFailed, options.fds.report >= 0);
    }
  }
  sigset_t before;
  Descriptor signals = take_signals(before);
  auto& job = *new Job(options.program.parent, options.program.tty != 0);
  if (options.fds.signals >= 0) job.start_witness();
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
  auto& watch =
      *new Watch(options, config, *host, report, job, std::move(notifier), std::move(signals));
  if (const auto failure = watch.begin()) {
    report_failure(report, failure->name.c_str(), failure->message);
    // A thread may be stuck in the kernel.
    ::_exit(complain(failure->message, kFailed, options.fds.report >= 0));
  }
  Protection protection;
  protection.apply();
  Target target;
  const char* priority = protection.urgent() ? priority_word::kRealtime : priority_word::kUsual;
  if (const int code = open_target(options, report, protection, job, before, target, priority))
    return code;
  for (const int fd : foreign) ::close(fd);
  int signal = 0;
  const int code = watch.run(std::move(target), protection.locked(), priority, signal);
  if (signal != 0 && code == 0) end_by_signal(signal);
  // Nothing is destroyed, because threads may be stuck in the kernel or the driver.
  ::_exit(code);
}

int run(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return complain(*wrong, kUsage);
  const auto& options = std::get<SupervisorOptions>(parsed);
  const bool replays = !options.replay.empty();
  Report report(replays && options.fds.report < 0 ? STDOUT_FILENO : options.fds.report);
  if (!replays) return guard(options, report);
  std::string wrong;
  const int code = replay(options, report, wrong);
  return code == 0 ? 0 : complain(wrong, code);
}

}  // namespace
}  // namespace umaprobe

int main(int argc, char** argv) {
  // An arena for each thread would reserve 64 MiB, which count as locked.
  ::mallopt(M_ARENA_MAX, 1);
  try {
    return umaprobe::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "umaprobe-guard: %s\n", error.what());
    return 1;
  }
}
