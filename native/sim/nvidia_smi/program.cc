// The simulated nvidia-smi. Its stdout is that of nvidia-smi 580, byte for byte where that is
// known, because programs parse it. It says that it is simulated where no program reads: on stderr
// while stdout is a terminal, and in --version and --help. The UUIDs of all shipped machines begin
// with GPU-5117ab1e.
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "abi/umasim.h"
#include "sim/nvidia_smi/arguments.h"
#include "sim/nvidia_smi/fields.h"

namespace umasim::smi {
namespace {

// Exit codes of nvidia-smi, by its man page: those of NVML, and 255 for any other failure.
enum Exit : int { kFine = 0, kBadArguments = 2, kNotFound = 6, kOther = 255 };

int exit_code(int status) { return status > 0 && status < kOther ? status : int{kOther}; }

std::string machine() {
  const char* name = umasim_machine();
  return name == nullptr ? "no machine" : "machine " + std::string(name);
}

// NVML did not start.
int explain(int status) {
  switch (status) {
    case umaprobe::kNvmlDriverNotLoaded:
      std::puts(
          "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
          "that the latest NVIDIA driver is installed and running.\n");
      break;
    case umaprobe::kNvmlLibraryNotFound:
      std::puts(
          "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that "
          "the NVIDIA Display Driver is properly installed and present in your system.\n"
          "Please also try adding directory that contains libnvidia-ml.so to your system PATH.");
      break;
    default:
      std::printf("Failed to initialize NVML: %s\n", nvmlErrorString(status));
  }
  return exit_code(status);
}

// An index, a UUID, or a bus id, of which the domain may be left out or short.
bool is_named(const Gpu& gpu, const std::string& id) {
  if (id == std::to_string(gpu.index) || strcasecmp(id.c_str(), gpu.uuid.c_str()) == 0) return true;
  unsigned int at[3], wanted[3];
  const auto scan = [](const std::string& text, unsigned int* out) {
    return std::sscanf(text.c_str(), "%x:%x:%x", &out[0], &out[1], &out[2]) == 3;
  };
  return scan(gpu.bus_id, at) && (scan(id, wanted) || scan("0:" + id, wanted)) &&
         std::equal(at, at + 3, wanted);
}

std::vector<Gpu> chosen(const std::vector<Gpu>& all, const std::vector<std::string>& ids) {
  std::vector<Gpu> some;
  for (const Gpu& gpu : all) {
    const bool named = std::any_of(ids.begin(), ids.end(),
                                   [&](const std::string& id) { return is_named(gpu, id); });
    if (ids.empty() || named) some.push_back(gpu);
  }
  return some;
}

// Takes those without a handle out of the list and names them. Returns their last status.
int name_unreachable(std::vector<Gpu>* gpus) {
  int status = 0;
  for (const Gpu& gpu : *gpus) {
    if (gpu.status == 0) continue;
    status = gpu.status;
    std::fprintf(stderr, "Unable to determine the device handle for GPU%u: %s: %s\n", gpu.index,
                 gpu.bus_id.c_str(), nvmlErrorString(status));
  }
  gpus->erase(
      std::remove_if(gpus->begin(), gpus->end(), [](const Gpu& gpu) { return gpu.status != 0; }),
      gpus->end());
  return status;
}

std::string screen(const std::vector<Gpu>& gpus, const Arguments& arguments) {
  switch (arguments.mode) {
    case Mode::kLog:
      return log(gpus, arguments.sections);
    case Mode::kList:
      return gpu_list(gpus);
    case Mode::kGpuCsv:
      return gpu_csv(gpus, arguments.csv);
    case Mode::kProcessCsv:
      return process_csv(gpus, arguments.csv);
    default:
      return table(gpus);
  }
}

int round(const Arguments& arguments) {
  std::vector<Gpu> all;
  const int status = list_gpus(&all);
  if (status != 0) return explain(status);
  std::vector<Gpu> gpus = chosen(all, arguments.gpus);
  const int unreachable = name_unreachable(&gpus);
  if (gpus.empty()) {
    std::puts("No devices were found");
    return unreachable != 0 ? exit_code(unreachable) : int{kNotFound};
  }
  std::fputs(screen(gpus, arguments).c_str(), stdout);
  return unreachable == 0 ? int{kFine} : exit_code(unreachable);
}

int print_names(const char* what, const std::vector<std::string>& names) {
  std::printf(
      "List of valid properties to query for the switch \"%s\" (simulated by umaprobe):\n\n", what);
  for (const std::string& name : names) std::printf("\"%s\"\n", name.c_str());
  return kFine;
}

int print_version() {
  std::printf("NVIDIA-SMI version  : %s\n", driver_version().c_str());
  // NVML puts the CUDA series in front of its version, and nvidia-smi does not.
  const std::string nvml = nvml_version();
  std::printf("NVML version        : %s\n", nvml.substr(nvml.find('.') + 1).c_str());
  std::printf("DRIVER version      : %s\n", driver_version().c_str());
  std::printf("CUDA Version        : %s\n", cuda_version().c_str());
  std::printf("Simulated by        : umaprobe, %s\n", machine().c_str());
  return kFine;
}

int print_help() {
  std::printf(
      "NVIDIA System Management Interface, simulated by umaprobe (%s)\n\n"
      "nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...\n\n"
      "    -h,   --help                  Print this and exit.\n"
      "          --version               Print the versions of the driver and of NVML.\n"
      "    -L,   --list-gpus             Print the GPUs with their UUIDs.\n"
      "    -i,   --id=                   Only these GPUs: index, UUID or PCI bus id.\n"
      "    -l,   --loop[=SECONDS]        Print again and again (default 5).\n"
      "    -lms, --loop-ms=              The same in milliseconds.\n"
      "    -q,   --query                 Print all readings.\n"
      "    -d,   --display=              Of -q, only: %s.\n"
      "          --query-gpu=            Print these fields: --help-query-gpu has their names.\n"
      "          --query-compute-apps=   The same for processes: --help-query-compute-apps.\n"
      "          --format=               csv, with noheader and nounits if wanted.\n",
      machine().c_str(), section_names().c_str());
  return kFine;
}

int run(int count, char** values) {
  Arguments arguments;
  const std::string problem = parse(count, values, &arguments);
  if (!problem.empty()) {
    std::fputs(problem.c_str(), stdout);
    return kBadArguments;
  }
  if (arguments.mode == Mode::kHelp) return print_help();
  if (arguments.mode == Mode::kGpuFields) return print_names("--query-gpu=", gpu_field_names());
  if (arguments.mode == Mode::kProcessFields) {
    return print_names("--query-compute-apps=", process_field_names());
  }
  const int status = nvmlInit_v2();
  if (status != 0) return explain(status);
  if (arguments.mode == Mode::kVersion) return print_version();
  if (isatty(STDOUT_FILENO) != 0) {
    std::fprintf(stderr, "nvidia-smi: simulated by umaprobe, %s\n", machine().c_str());
  }
  for (;;) {
    const int code = round(arguments);
    std::fflush(stdout);
    if (arguments.loop_ms == 0) return code;
    usleep(static_cast<useconds_t>(arguments.loop_ms) * 1000);
    arguments.csv.header = false;
  }
}

}  // namespace
}  // namespace umasim::smi

int umasim_nvidia_smi(int count, char** values) { return umasim::smi::run(count, values); }
