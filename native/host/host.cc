#include "host/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/failure.h"
#include "host/kept_files.h"
#include "machine/simulator.h"

namespace umaprobe {
namespace {

constexpr size_t kMaxFileBytes = 1u << 20;

class RealHost final : public Host {
 public:
  long read(const char* path, char* buffer, size_t size) override {
    const Descriptor file = open_readonly(path);
    if (!file) return -errno;
    return read_from_start(file.get(), buffer, size);
  }

  long reread(const char* path, char* buffer, size_t size) override {
    return kept_files_.read(path, buffer, size);
  }

  long write(const char* path, const char* data, size_t size) override {
    const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return -errno;
    // The write is not retried after EINTR: the kernel has dropped part of the cache by then.
    const ssize_t count = ::write(file.get(), data, size);
    return count < 0 ? -errno : count;
  }

  int sync() override {
    ::sync();
    return 0;
  }

  void* map(size_t bytes) override {
    void* address =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? nullptr : address;
  }

  void unmap(void* address, size_t bytes) override { ::munmap(address, bytes); }
  int touch(void*, size_t) override { return -ENOTSUP; }

  std::optional<double> free_memory() override {
    struct sysinfo now;
    if (::sysinfo(&now) != 0) return std::nullopt;
    return static_cast<double>(now.freeram) * now.mem_unit;
  }

  Fact<std::vector<std::string>> list(const std::string& path) override {
    const std::string call = "list " + path;
    DIR* directory = ::opendir(path.c_str());
    if (!directory) return errno_failure("kernel", call, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    const int error = errno;
    ::closedir(directory);
    if (error) return errno_failure("kernel", call, error);
    return names;
  }

  long page_size() override { return ::sysconf(_SC_PAGESIZE); }

  double time_scale() override { return 1; }

  Fact<std::string> machine() override { return std::string(); }

 private:
  KeptFiles kept_files_;
};

class SimulatedHost final : public Host {
 public:
  explicit SimulatedHost(const Simulator& simulator) : simulator_(simulator) {}

  long read(const char* path, char* buffer, size_t size) override {
    return simulator_.umasim_read(path, buffer, size);
  }

  long write(const char* path, const char* data, size_t size) override {
    return simulator_.umasim_write(path, data, size);
  }

  // A simulator without the call has no dirty pages.
  int sync() override { return simulator_.umasim_sync ? simulator_.umasim_sync() : 0; }

  void* map(size_t bytes) override { return simulator_.umasim_map(bytes); }
  void unmap(void* address, size_t bytes) override { simulator_.umasim_unmap(address, bytes); }
  int touch(void* address, size_t bytes) override {
    return simulator_.umasim_touch(address, bytes);
  }

  Fact<std::vector<std::string>> list(const std::string& path) override {
    std::string text(kMaxFileBytes, '\0');
    const long length = simulator_.umasim_list(path.c_str(), text.data(), text.size());
    if (length < 0) return errno_failure("kernel", "list " + path, static_cast<int>(-length));
    text.resize(static_cast<size_t>(length));
    std::vector<std::string> names;
    for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
         start = end + 1) {
      names.push_back(text.substr(start, end - start));
    }
    return names;
  }

  long page_size() override {
    const long bytes = simulator_.umasim_page_size();
    return bytes > 0 ? bytes : ::sysconf(_SC_PAGESIZE);
  }

  double time_scale() override {
    const long milli = simulator_.umasim_scale_milli();
    return milli > 0 ? static_cast<double>(milli) / 1000 : 1;
  }

  Fact<std::string> machine() override {
    if (const char* name = simulator_.umasim_machine()) return std::string(name);
    return errno_failure("sim", "umasim_machine", ENXIO);
  }

 private:
  Simulator simulator_;
};

// The host of a machine that is unavailable, or that is not the machine of this process. Falling
// back to the real host would show another machine.
class UnavailableHost final : public Host {
 public:
  explicit UnavailableHost(Failure reason) : reason_(std::move(reason)) {}
  long read(const char*, char*, size_t) override { return -ENXIO; }
  long write(const char*, const char*, size_t) override { return -ENXIO; }
  int sync() override { return -ENXIO; }
  void* map(size_t) override {
    errno = ENXIO;
    return nullptr;
  }
  void unmap(void*, size_t) override {}
  int touch(void*, size_t) override { return -ENXIO; }
  Fact<std::vector<std::string>> list(const std::string&) override { return reason_; }
  long page_size() override { return ::sysconf(_SC_PAGESIZE); }  // needed even without a machine
  double time_scale() override { return 1; }
  Fact<std::string> machine() override { return reason_; }

 private:
  Failure reason_;
};

// Prevents mistakes, not attacks: the process could open any file itself.
std::optional<Failure> check_path(const std::string& path) {
  const std::string with_slash = path + "/";
  const bool below_root = with_slash.rfind("/proc/", 0) == 0 || with_slash.rfind("/sys/", 0) == 0;
  const bool normal =
      with_slash.find("/../") == std::string::npos && with_slash.find('\0') == std::string::npos;
  if (below_root && normal) return std::nullopt;
  return Failure{"umaprobe", "read " + path, EINVAL, "EINVAL",
                 path + " is not an absolute path under /proc or /sys"};
}

bool frees_memory(const std::string& path) {
  if (path == "/proc/sys/vm/drop_caches" || path == "/proc/sys/vm/compact_memory") return true;
  const std::string file = "/memory.reclaim";
  return path.rfind("/sys/fs/cgroup/", 0) == 0 && path.size() > file.size() &&
         path.compare(path.size() - file.size(), file.size(), file) == 0;
}

}  // namespace

std::unique_ptr<Host> open_host(const MachineConfig& config) {
  if (config.error) return std::make_unique<UnavailableHost>(*config.error);
  if (!config.simulated()) return std::make_unique<RealHost>();
  Fact<Simulator> simulator = open_simulator(config.simulator);
  if (Failure* failure = std::get_if<Failure>(&simulator)) {
    return std::make_unique<UnavailableHost>(std::move(*failure));
  }
  return std::make_unique<SimulatedHost>(std::get<Simulator>(simulator));
}

Failure read_failure(Host& host, const std::string& path, int error) {
  Fact<std::string> machine = host.machine();
  if (Failure* failure = std::get_if<Failure>(&machine)) return std::move(*failure);
  return errno_failure("kernel", "read " + path, error);
}

namespace {

// `read(buffer, size)` into a buffer that grows until the text fits, up to `limit`.
template <class Read>
Fact<std::string> read_text(Host& host, const std::string& path, size_t limit, Read read) {
  if (auto failure = check_path(path)) return std::move(*failure);
  for (size_t size = std::min<size_t>(16u << 10, limit);; size = std::min(size * 8, limit)) {
    std::string text(size, '\0');
    const long length = read(text.data(), size);
    if (length < 0) return read_failure(host, path, static_cast<int>(-length));
    if (static_cast<size_t>(length) < size || size == limit) {
      text.resize(static_cast<size_t>(length));
      return text;
    }
  }
}

}  // namespace

Fact<std::string> read_file(Host& host, const std::string& path) {
  Fact<std::string> text = read_text(host, path, kMaxFileBytes + 1, [&](char* buffer, size_t size) {
    return host.read(path.c_str(), buffer, size);
  });
  const auto* read = std::get_if<std::string>(&text);
  if (read && read->size() > kMaxFileBytes) return errno_failure("kernel", "read " + path, EFBIG);
  return text;
}

Fact<std::string> reread_file(Host& host, const std::string& path, size_t bytes) {
  return read_text(host, path, bytes, [&](char* buffer, size_t size) {
    return host.reread(path.c_str(), buffer, size);
  });
}

std::optional<Failure> write_file(Host& host, const std::string& path, const std::string& data) {
  const std::string call = "write " + path;
  if (check_path(path) || !frees_memory(path)) {
    return Failure{"umaprobe", call, EINVAL, "EINVAL",
                   path + " is not one of the files that umaprobe writes"};
  }
  const long written = host.write(path.c_str(), data.data(), data.size());
  if (written >= 0) return std::nullopt;
  Failure failure = read_failure(host, path, static_cast<int>(-written));
  failure.call = call;
  return failure;
}

Fact<std::vector<std::string>> list_directory(Host& host, const std::string& path) {
  if (auto failure = check_path(path)) return std::move(*failure);
  return host.list(path);
}

}  // namespace umaprobe
