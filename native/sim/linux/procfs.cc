#include "sim/linux/procfs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>

#include "sim/linux/cgroup.h"
#include "sim/linux/control_files.h"
#include "sim/linux/process_files.h"
#include "sim/linux/procfs_texts.h"
#include "sim/linux/psi.h"
#include "sim/linux/replaced_files.h"

namespace umasim {
namespace {

std::string number(uint64_t value) { return std::to_string(value) + "\n"; }

std::string huge_pages_setting(const State& state) {
  std::string text;
  for (const char* word : {"always", "madvise", "never"}) {
    const bool chosen = std::strcmp(word, state.machine.linux_kernel.transparent_huge_pages) == 0;
    text += std::string(text.empty() ? "" : " ") + (chosen ? "[" : "") + word + (chosen ? "]" : "");
  }
  return text + "\n";
}

// Each right excludes all others: even root cannot read drop_caches. kAllWrite is for the files of
// the cgroup, whose owner is the user that booted the machine.
enum class Rights { kAllRead, kRootReads, kRootWrites, kAllWrite };
// The condition for the file to exist.
enum class Needs { kNothing, kDriver, kPools };

struct File {
  const char* path;
  Rights rights;
  Needs needs;
  std::string (*text)(const State&);
};

#define SHRINKERS "/sys/kernel/debug/shrinker/nv-sysmem-alloc-node-0-order-"
#define CGROUPS "/sys/fs/cgroup"
#define CGROUP CGROUPS UMASIM_CGROUP
#define HUGE_PAGES "/sys/kernel/mm/hugepages/hugepages-2048kB/"

// The ids of the shrinkers are arbitrary, because debugfs numbers them in order of registration.
const File kFiles[] = {
    {"/proc/meminfo", Rights::kAllRead, Needs::kNothing, meminfo_text},
    {"/proc/buddyinfo", Rights::kAllRead, Needs::kNothing, buddyinfo_text},
    {"/proc/pagetypeinfo", Rights::kRootReads, Needs::kNothing, pagetypeinfo_text},
    {"/proc/zoneinfo", Rights::kAllRead, Needs::kNothing, zoneinfo_text},
    {"/proc/vmstat", Rights::kAllRead, Needs::kNothing, vmstat_text},
    {"/proc/pressure/memory", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return psi_text(state.world.psi); }},
    {"/proc/sys/vm/min_free_kbytes", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.min_free / 1024); }},
    {"/proc/sys/vm/watermark_scale_factor", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.watermark_scale_factor); }},
    {"/proc/sys/vm/watermark_boost_factor", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.watermark_boost_factor); }},
    {"/proc/sys/vm/swappiness", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.swappiness); }},
    {"/proc/sys/vm/dirty_ratio", Rights::kAllRead, Needs::kNothing,
     [](const State&) { return std::string("20\n"); }},
    {"/proc/sys/vm/dirty_background_ratio", Rights::kAllRead, Needs::kNothing,
     [](const State&) { return std::string("10\n"); }},
    {"/proc/sys/vm/compaction_proactiveness", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.compaction_proactiveness); }},
    {"/proc/sys/vm/nr_hugepages", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.huge_pages_total); }},
    {"/proc/sys/vm/drop_caches", Rights::kRootWrites, Needs::kNothing, nullptr},
    {"/proc/sys/vm/compact_memory", Rights::kRootWrites, Needs::kNothing, nullptr},
    {"/proc/sys/kernel/random/boot_id", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return std::string(state.boot_id) + "\n"; }},
    {"/proc/sys/kernel/osrelease", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return std::string(state.machine.linux_kernel.release) + "\n"; }},
    {"/proc/driver/nvidia/version", Rights::kAllRead, Needs::kDriver, driver_version_text},
    {"/proc/driver/nvidia/params", Rights::kAllRead, Needs::kDriver, driver_params_text},
    {"/sys/kernel/mm/transparent_hugepage/enabled", Rights::kAllRead, Needs::kNothing,
     huge_pages_setting},
    {HUGE_PAGES "nr_hugepages", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.huge_pages_total); }},
    {HUGE_PAGES "free_hugepages", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(state.machine.memory.huge_pages_free); }},
    {CGROUP "/memory.current", Rights::kAllRead, Needs::kNothing,
     [](const State& state) { return number(cgroup_bytes(state)); }},
    {CGROUP "/memory.max", Rights::kAllRead, Needs::kNothing,
     [](const State&) { return std::string("max\n"); }},
    {CGROUP "/memory.high", Rights::kAllRead, Needs::kNothing,
     [](const State&) { return std::string("max\n"); }},
    {CGROUP "/memory.stat", Rights::kAllRead, Needs::kNothing, cgroup_stat_text},
    {CGROUP "/memory.reclaim", Rights::kAllWrite, Needs::kNothing, nullptr},
    {CGROUPS "/memory.reclaim", Rights::kRootWrites, Needs::kNothing, nullptr},
    {SHRINKERS "0-61/count", Rights::kRootReads, Needs::kPools,
     [](const State& state) { return pool_count_text(state, 0); }},
    {SHRINKERS "4-62/count", Rights::kRootReads, Needs::kPools,
     [](const State& state) { return pool_count_text(state, 4); }},
    {SHRINKERS "9-63/count", Rights::kRootReads, Needs::kPools,
     [](const State& state) { return pool_count_text(state, 9); }},
};

bool exists(const State& state, const File& file) {
  switch (file.needs) {
    case Needs::kDriver:
      return state.machine.device_count > 0;
    case Needs::kPools:
      return state.machine.driver.system_memory_pools > 0;
    default:
      return true;
  }
}

// The file of a path, on any machine.
const File* find(const char* path) {
  const auto named = [&](const File& file) { return std::strcmp(file.path, path) == 0; };
  const File* file = std::find_if(std::begin(kFiles), std::end(kFiles), named);
  return file == std::end(kFiles) ? nullptr : file;
}

const File* find(const State& state, const char* path) {
  const File* file = find(path);
  return file != nullptr && exists(state, *file) ? file : nullptr;
}

int may_open_replaced(const ReplacedFile& file, bool writes) {
  if (file.answer == FileAnswer::kMissing) return -ENOENT;
  if (file.answer == FileAnswer::kError) return -file.error;
  return writes ? -EACCES : 0;
}

bool is_root() { return geteuid() == 0; }

}  // namespace

bool find_control_file(const char* path, ControlFile* file) {
  if (std::strcmp(path, "/proc/sys/vm/drop_caches") == 0) {
    *file = ControlFile::kDropCaches;
  } else if (std::strcmp(path, "/proc/sys/vm/compact_memory") == 0) {
    *file = ControlFile::kCompact;
  } else if (std::strcmp(path, CGROUP "/memory.reclaim") == 0) {
    *file = ControlFile::kReclaim;
  } else if (std::strcmp(path, CGROUPS "/memory.reclaim") == 0) {
    *file = ControlFile::kReclaimRoot;
  } else {
    return false;
  }
  return true;
}

bool is_simulated(const State& state, const char* path) {
  if (replaces_answer(find_replaced(state.machine, path)) || find(path) != nullptr) return true;
  int pid;
  const ProcessFile process = process_file(path, &pid);
  return process != ProcessFile::kNone && knows_process(state, process, pid);
}

int may_open(const State& state, const char* path, int access) {
  const bool reads = access != O_WRONLY, writes = access != O_RDONLY;
  const ReplacedFile* replaced = find_replaced(state.machine, path);
  if (replaces_answer(replaced)) return may_open_replaced(*replaced, writes);
  int pid;
  const ProcessFile process = process_file(path, &pid);
  if (process != ProcessFile::kNone) {
    return !knows_process(state, process, pid) ? -ENOENT : writes ? -EACCES : 0;
  }
  const File* file = find(state, path);
  if (file == nullptr) return -ENOENT;
  if (file->rights == Rights::kAllWrite) return reads ? -EACCES : 0;
  if (file->rights == Rights::kRootWrites) return reads || !is_root() ? -EACCES : 0;
  if (writes) return -EACCES;
  return file->rights == Rights::kRootReads && !is_root() ? -EACCES : 0;
}

FileStatus file_status(const State& state, const char* path) {
  if (is_scripted_directory(state, path)) return {0, S_IFDIR | 0555};
  if (!is_simulated(state, path)) return {-ENOENT, 0};
  const ReplacedFile* replaced = find_replaced(state.machine, path);
  if (replaces_answer(replaced)) {
    // A file that cannot be read exists all the same.
    return replaced->answer == FileAnswer::kMissing ? FileStatus{-ENOENT, 0}
                                                    : FileStatus{0, S_IFREG | 0444};
  }
  const File* known = find(path);
  if (known == nullptr) return {0, S_IFREG | 0444};
  if (!exists(state, *known)) return {-ENOENT, 0};
  constexpr unsigned kModes[] = {0444, 0400, 0200, 0222};  // in the order of Rights
  return {0, S_IFREG | kModes[static_cast<int>(known->rights)]};
}

int read_file(const State& state, const char* path, std::string* text) {
  const ReplacedFile* replaced = find_replaced(state.machine, path);
  if (replaces_answer(replaced)) {
    const int status = may_open_replaced(*replaced, false);
    if (status == 0) *text = replaced_text(state.machine, *replaced);
    return status;
  }
  int pid;
  const ProcessFile process = process_file(path, &pid);
  if (process != ProcessFile::kNone) return process_text(state, process, pid, text);
  const int status = may_open(state, path, O_RDONLY);
  if (status == 0) *text = find(state, path)->text(state);
  return status;
}

std::set<std::string> names_in(const State& state, const std::string& directory, Names which) {
  std::string prefix = directory;
  if (prefix.empty() || prefix.back() != '/') prefix += '/';
  std::set<std::string> found;
  const auto add = [&](const std::string& path) {
    if (path.rfind(prefix, 0) != 0) return;
    const bool present = file_status(state, path.c_str()).error == 0;
    const size_t end = path.find('/', prefix.size());
    // A directory with an absent file may have others.
    if (which == Names::kAbsent && (present || end != std::string::npos)) return;
    if (which == Names::kPresent && !present) return;
    found.insert(path.substr(prefix.size(), end - prefix.size()));
  };
  for (const File& file : kFiles) add(file.path);
  for (int i = 0; i < state.machine.file_count; i++) {
    if (replaces_answer(&state.machine.files[i])) add(state.machine.files[i].path);
  }
  for (int i = 0; i < state.machine.process_count; i++) {
    const std::string process = "/proc/" + std::to_string(state.machine.processes[i].pid);
    if (!is_scripted_directory(state, process.c_str())) continue;
    for (const char* name : kProcessFileNames) add(process + "/" + name);
  }
  return found;
}

int list_directory(const State& state, const char* path, std::string* names) {
  const bool debug = std::strncmp(path, "/sys/kernel/debug/", 18) == 0;
  if (debug && !is_root()) return -EACCES;
  std::set<std::string> found = names_in(state, path, Names::kPresent);
  if (std::strcmp(path, "/proc") == 0) {
    for (const Client& client : state.clients) {
      if (client.pid != 0) found.insert(std::to_string(client.pid));
    }
  }
  for (const std::string& name : found) *names += name + "\n";
  return found.empty() ? -ENOENT : 0;
}

}  // namespace umasim
