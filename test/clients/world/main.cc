// worldtest FOLDER [NAME…]: runs the scenarios, each in a child process. FOLDER contains the flat
// description of each shipped machine, MACHINE.flat.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness.h"

namespace world {
namespace {

std::string folder, current_state;
char all_states[] = "/tmp/umasim-world-XXXXXX";

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

uint64_t number_after(const std::string& text, const std::string& label) {
  const size_t at = ("\n" + text).find("\n" + label);
  EXPECT(at != std::string::npos, "no line %s", label.c_str());
  return std::strtoull(text.c_str() + at + label.size(), nullptr, 10);
}

}  // namespace

const std::string& state_path() { return current_state; }

std::string boot_error(const char* name, const std::string& more) {
  std::ifstream file(folder + "/" + name + ".flat");
  std::stringstream text;
  text << file.rdbuf() << "\n" << more;
  static int boots = 0;
  current_state =
      std::string(all_states) + "/" + std::to_string(getpid()) + "-" + std::to_string(boots++);
  char error[512] = "";
  const int status = umasim_boot(text.str().c_str(), current_state.c_str(), error, sizeof error);
  EXPECT((status == 0) == (*error == '\0'));
  if (status != 0) current_state.clear();
  return error;
}

void boot(const char* name, double scale, const std::string& more) {
  const std::string error = boot_error(name, "clock.scale " + std::to_string(scale) + "\n" + more);
  EXPECT(error.empty(), "%s: %s", name, error.c_str());
  setenv("UMAPROBE_SIM", current_state.c_str(), 1);
  EXPECT(umasim_machine() != nullptr && std::strcmp(umasim_machine(), name) == 0);
}

std::string devices(const char* name, int count) {
  std::ifstream file(folder + "/" + name + ".flat");
  std::string line, lines;
  while (std::getline(file, line)) {
    const std::string first = "devices.0.";
    if (line.compare(0, first.size(), first) != 0) continue;
    for (int i = 0; i < count; i++) {
      lines += "devices." + std::to_string(i) + "." + line.substr(first.size()) + "\n";
    }
  }
  for (int i = 0; i < count; i++) {
    const std::string at = "devices." + std::to_string(i) + ".", number = std::to_string(i + 1);
    lines += at + "uuid GPU-5117ab1e-0000-0000-0000-00000000000" + number + "\n";
    lines += at + "pciBusId 0000:0" + number + ":00.0\n";
  }
  return lines;
}

std::string read(const char* path) {
  std::string buffer(1 << 16, '\0');
  const long length = umasim_read(path, &buffer[0], buffer.size());
  EXPECT(length >= 0, "%s: %s", path, std::strerror(static_cast<int>(-length)));
  buffer.resize(static_cast<size_t>(length));
  return buffer;
}

uint64_t meminfo(const char* line) {
  const bool pages = std::strncmp(line, "HugePages_", 10) == 0;
  return number_after(read("/proc/meminfo"), std::string(line) + ":") * (pages ? 1 : 1024);
}

uint64_t vmstat(const char* line) {
  return number_after(read("/proc/vmstat"), std::string(line) + " ");
}

double pressure_full10() {
  const std::string text = read("/proc/pressure/memory");
  const size_t at = text.find("full avg10=");
  EXPECT(at != std::string::npos);
  return std::atof(text.c_str() + at + std::strlen("full avg10="));
}

double pressure_full_ms() {
  const std::string text = read("/proc/pressure/memory");
  const size_t at = text.find("total=", text.find("full avg10="));
  EXPECT(at != std::string::npos);
  return std::atof(text.c_str() + at + std::strlen("total=")) / 1000;
}

bool full_pressure_reaches(double ms) {
  for (int i = 0; i < 2000 && pressure_full_ms() < ms; i++) wait_ms(10);
  return pressure_full_ms() >= ms;
}

std::string record() {
  std::string buffer(4 << 20, '\0');
  const long length = umasim_record(current_state.c_str(), &buffer[0], buffer.size());
  EXPECT(length > 0);
  buffer.resize(static_cast<size_t>(length));
  return buffer;
}

double recorded(const char* name) {
  const std::string text = record(), label = std::string("\"") + name + "\":";
  const size_t at = text.find(label);
  EXPECT(at != std::string::npos, "no %s in the record", name);
  return std::atof(text.c_str() + at + label.size());
}

bool wedged() { return record().find("\"wedged\":null") == std::string::npos; }

size_t cuda_free() {
  size_t free_bytes = 0, total = 0;
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == 0);
  return free_bytes;
}

void* allocate(uint64_t bytes) {
  void* memory = nullptr;
  const int status = cudaMalloc(&memory, bytes);
  EXPECT(status == 0, "cudaMalloc of %.1f GiB: %d", static_cast<double>(bytes) / kGiB, status);
  return memory;
}

void wait_ms(double real_ms) { usleep(static_cast<useconds_t>(real_ms * 1000)); }

int start(const std::function<void()>& body) {
  const int pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a scenario that fails leaves no process behind
  body();
  _exit(0);
}

int wait_for(int pid, double real_ms) {
  const double until = now_ms() + real_ms;
  int status;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (now_ms() > until) return -1;
    wait_ms(1);
  }
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

void kill_and_wait(int pid) {
  kill(pid, SIGKILL);
  EXPECT(wait_for(pid, 5000) == 1000 + SIGKILL);
}

namespace {

// Returns true if the scenario passed.
bool run(const Row& scenario) {
  const double begun = now_ms();
  const int pid = start([&] {
    scenario.run();
    if (!current_state.empty()) {
      EXPECT(record().find("\"violations\":[]") != std::string::npos, "%s", record().c_str());
    }
  });
  constexpr double kLimitMs = 60000;
  const int status = wait_for(pid, kLimitMs);
  if (status == -1) kill_and_wait(pid);
  std::printf("%s %-28s %6.0f ms\n", status == 0 ? "ok  " : "FAIL", scenario.name,
              now_ms() - begun);
  std::fflush(stdout);
  return status == 0;
}

}  // namespace
}  // namespace world

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: worldtest FOLDER [NAME...]\n");
    return 2;
  }
  // process.exec_forgets executes this: a program that only reads, and keeps running.
  if (std::strcmp(argv[1], "--look") == 0) {
    world::read("/proc/meminfo");
    pause();
  }
  world::folder = argv[1];
  EXPECT(mkdtemp(world::all_states) != nullptr);
  int failed = 0, passed = 0;
  for (const world::Row* list :
       {world::kHostScenarios, world::kMemoryScenarios, world::kProcessScenarios,
        world::kLibraryScenarios, world::kKernelScenarios, world::kCounterScenarios,
        world::kTimelineScenarios, world::kDeviceScenarios, world::kEventScenarios,
        world::kNvmlScenarios}) {
    for (; list->name != nullptr; list++) {
      bool chosen = argc == 2;
      for (int i = 2; i < argc; i++) chosen = chosen || std::strcmp(argv[i], list->name) == 0;
      if (chosen) (world::run(*list) ? passed : failed)++;
    }
  }
  std::filesystem::remove_all(world::all_states);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0 ? 1 : 0;
}
