#include "pagecache/walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>

#include "base/failure.h"

namespace umaprobe {
namespace {

// Files inspected together: enough to share among the threads.
constexpr size_t kMaxFiles = 256;
// Number of directory entries read per step, so that a slice ends on time in a directory full of
// links.
constexpr size_t kMaxNames = 8192;
// Opening and closing dominate an inspection and run in parallel. More threads contend for the
// process's descriptor table.
constexpr unsigned kMaxThreads = 4;

Failure pseudo_failure(const std::string& path) {
  return {"umaprobe", "open", EINVAL, "EINVAL",
          path + " is on a file system without a page cache (proc, sysfs and the like)"};
}

}  // namespace

Walk::Walk(std::vector<std::string> paths, WalkOptions options)
    : roots_(std::move(paths)), options_(options), results_(options) {}

void Walk::run_slice(CallContext& context, Clock::duration slice) {
  const auto until = Clock::now() + slice;
  results_.begin_slice();
  ThreadPool pool(kMaxThreads);
  while (!results_.full() && !cancelled_.load(std::memory_order_relaxed) && !context.cancelled()) {
    if (!advance(context, pool)) {
      results_.set_done();
      break;
    }
    if (Clock::now() >= until) break;
  }
  if (!tree_.empty()) results_.set_path(tree_.path());
  results_.publish();
}

bool Walk::advance(CallContext& context, ThreadPool& pool) {
  if (evicting_) {
    if (evicting_->eviction.step(context)) finish_eviction(context);
  } else if (!tree_.empty()) {
    advance_in_directory(context, pool);
  } else if (next_root_ < roots_.size()) {
    begin_root(context, roots_[next_root_++]);
  } else {
    return false;
  }
  return true;
}

// A given path may be a link, which is followed. stat comes before open, because opening a device
// can have side effects.
void Walk::begin_root(CallContext& context, const std::string& path) {
  results_.set_path(path);
  if (path.find('\0') != std::string::npos) return record_open_failure(path, "stat", EINVAL);
  context.enter("stat");
  struct stat about {};
  if (::fstatat(AT_FDCWD, path.c_str(), &about, 0) != 0)
    return record_open_failure(path, "stat", errno);
  if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    return count(&WalkSums::special, "special", path);
  context.enter("open");
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor opened(::open(path.c_str(), flags | O_NOATIME));
  if (!opened && errno == EPERM) opened = Descriptor(::open(path.c_str(), flags));
  if (!opened) return record_open_failure(path, "open", errno);
  if (::fstat(opened.get(), &about) != 0) return record_open_failure(path, "fstat", errno);
  if (file_systems_.of(about.st_dev, opened.get()) == FileSystem::kPseudo)
    return results_.problem(path, pseudo_failure(path));
  if (S_ISDIR(about.st_mode)) return enter(std::move(opened), about, path);
  record_file(context, path, inspect(std::move(opened), options_.method));
}

// Reads names up to the next subdirectory, inspects those files, then enters that subdirectory.
void Walk::advance_in_directory(CallContext& context, ThreadPool& pool) {
  if (!evict_queue_.empty()) return begin_queued_eviction(context);
  if (subdirectory_) {
    const std::string name = std::move(*subdirectory_);
    subdirectory_.reset();
    return enter_subdirectory(context, name);
  }
  const bool more = read_names(context);
  const int error = more ? 0 : errno;
  if (!files_.empty()) return inspect_files(context, pool);
  if (more) return;
  if (error != 0) results_.problem(tree_.path(), errno_failure("kernel", "getdents64", error));
  if (!tree_.leave())
    return results_.problem(tree_.path(), errno_failure("kernel", "openat ..", errno));
  if (!tree_.empty()) results_.set_path(tree_.path());
}

// Returns false at the end of the directory, or on a read error with errno set.
bool Walk::read_names(CallContext& context) {
  context.enter("getdents64");
  for (size_t names = 0; !subdirectory_ && files_.size() < kMaxFiles && names < kMaxNames;
       ++names) {
    errno = 0;
    std::optional<TreeEntry> entry = tree_.next();
    if (!entry) return false;
    unsigned char type = entry->type;
    struct stat about {};
    if (type == DT_UNKNOWN) {
      if (::fstatat(tree_.directory(), entry->name.c_str(), &about,
                    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
        record_open_failure(entry->name, "fstatat", errno);
        continue;
      }
      type = IFTODT(about.st_mode);
    }
    if (type == DT_REG) {
      files_.push_back(std::move(entry->name));
    } else if (type == DT_DIR) {
      subdirectory_ = std::move(entry->name);
    } else if (type == DT_LNK) {
      count(&WalkSums::links, "link", entry->name);
    } else {
      count(&WalkSums::special, "special", entry->name);
    }
  }
  return true;
}

void Walk::enter_subdirectory(CallContext& context, const std::string& name) {
  results_.set_path(tree_.path() + '/' + name);
  context.enter("openat");
  Descriptor directory = open_to_inspect(tree_.directory(), name.c_str(), O_DIRECTORY | O_NOATIME);
  if (!directory) return record_open_failure(name, "openat", errno);
  struct stat about {};
  if (::fstat(directory.get(), &about) != 0) return record_open_failure(name, "fstat", errno);
  const bool mounted = about.st_dev != tree_.dev();
  if (mounted && file_systems_.of(about.st_dev, directory.get()) == FileSystem::kPseudo)
    return results_.count(&WalkSums::pseudo);
  enter(std::move(directory), about, name);
}

void Walk::enter(Descriptor directory, const struct stat& about, const std::string& name) {
  // A path given twice, or a directory that is mounted twice.
  if (seen_before(about)) return count(&WalkSums::links, "link", name);
  tree_.enter(std::move(directory), about.st_dev, about.st_ino, name);
  results_.count(&WalkSums::directories);
}

void Walk::inspect_files(CallContext& context, ThreadPool& pool) {
  context.enter("openat");
  std::vector<Inspected> inspected(files_.size());
  const int directory = tree_.directory();
  const dev_t dev = tree_.dev();
  const CacheMethod method = options_.method;
  pool.parallel_for(files_.size(), [&](size_t i) {
    const char* name = files_[i].c_str();
    inspected[i] = options_.evict ? inspect_and_evict(directory, dev, name, method)
                                  : inspect(directory, dev, name, method);
  });
  for (size_t i = 0; i < inspected.size(); ++i) {
    if (inspected[i].evict_later) {
      evict_queue_.push_back(std::move(files_[i]));
    } else {
      record_file(context, files_[i], std::move(inspected[i]));
    }
  }
  files_.clear();
}

// Evicts one file at a time: a large file takes several slices and keeps its descriptor open.
void Walk::begin_queued_eviction(CallContext& context) {
  const std::string name = std::move(evict_queue_.back());
  evict_queue_.pop_back();
  context.enter("openat");
  record_file(context, name, inspect_open(tree_.directory(), name.c_str(), options_.method));
}

void Walk::record_file(CallContext& context, const std::string& name, Inspected found) {
  // The file was replaced by a socket or FIFO (ENXIO) or a link (ELOOP) since the directory was
  // read.
  if (found.error == ENXIO) return count(&WalkSums::special, "special", name);
  if (found.error == ELOOP) return count(&WalkSums::links, "link", name);
  if (found.failed_call) return record_open_failure(name, found.failed_call, found.error);
  const struct stat& about = found.about;
  if (!S_ISREG(about.st_mode)) return count(&WalkSums::special, "special", name);
  if (seen_before(about)) return count(&WalkSums::links, "link", name);

  const FileSystem file_system =
      file_systems_.of(about.st_dev, found.file ? found.file.get() : tree_.directory());
  if (file_system == FileSystem::kPseudo) return results_.count(&WalkSums::pseudo);
  WalkEntry entry{{}, "file", about.st_size, about.st_dev, about.st_ino, {}, false, {}, {}, {}};
  entry.memory = file_system == FileSystem::kMemory;
  if (Failure* failure = std::get_if<Failure>(&found.pages)) {
    entry.failure = std::move(*failure);
  } else {
    entry.pages = std::get<CachedPages>(found.pages);
  }
  if (found.left) entry.cached_after = static_cast<double>(*found.left);
  const bool may_be_cached = !found.left && (!entry.pages || entry.pages->cached > 0);
  if (!options_.evict || entry.memory || !may_be_cached) return add_entry(std::move(entry), name);
  begin_eviction(context, std::move(entry), name, std::move(found.file));
}

void Walk::begin_eviction(CallContext& context, WalkEntry entry, const std::string& name,
                          Descriptor file) {
  const auto size = static_cast<uint64_t>(*entry.bytes);
  const bool sync = options_.sync && !(entry.pages && entry.pages->clean());
  Eviction eviction(options_.method, file.get(), size, entry.pages);
  evicting_.emplace(Evicting{std::move(file), eviction, size, std::move(entry), name});
  if (!sync) return;
  const Fact<double> milliseconds = evicting_->eviction.sync(context);
  if (const Failure* failure = failure_of(milliseconds)) {
    evicting_->entry.failure = *failure;
    return finish_eviction(context);
  }
  evicting_->entry.sync_ms = std::get<double>(milliseconds);
}

void Walk::finish_eviction(CallContext& context) {
  const Evicting done = std::move(*evicting_);
  evicting_.reset();
  WalkEntry entry = done.entry;
  if (entry.pages) {
    context.enter("cachestat");
    const Fact<CachedPages> left = cached_pages(options_.method, done.file.get(), 0, 0, done.size);
    if (const auto* pages = std::get_if<CachedPages>(&left)) entry.cached_after = pages->cached;
  }
  add_entry(std::move(entry), done.name);
}

void Walk::add_entry(WalkEntry entry, const std::string& name) {
  if (results_.add(entry)) results_.list(std::move(entry), tree_.path_of(name));
}

bool Walk::seen_before(const struct stat& about) {
  return !seen_.insert(about.st_dev, about.st_ino);
}

void Walk::count(double WalkSums::*sum, const char* what, const std::string& name) {
  if (!results_.lists_all()) return results_.count(sum);
  results_.count(sum, what, tree_.path_of(name));
}

// A file that vanished from a tree is only counted. A given path that does not exist is a problem.
void Walk::record_open_failure(const std::string& name, const char* call, int error) {
  if (error == ENOENT && !tree_.empty()) return results_.count(&WalkSums::vanished);
  results_.problem(tree_.path_of(name), errno_failure("kernel", call, error));
}

}  // namespace umaprobe
