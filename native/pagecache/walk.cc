#include "pagecache/walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>

#include "base/failure.h"

namespace umaprobe {
namespace {

// Names read before they are looked at: enough to share among threads.
constexpr size_t kMaxFiles = 256;
// Of names that are no files, so that a slice ends on time in a directory full of links.
constexpr size_t kMaxNames = 8192;
// Opening and closing are most of a look, and go side by side; more threads than this wait for each
// other in the kernel's table of descriptors.
constexpr unsigned kMaxThreads = 4;

Failure pseudo_failure(const std::string& path) {
  return {"umaprobe", "open", EINVAL, "EINVAL",
          path + " is on a file system without a page cache (proc, sysfs and the like)"};
}

}  // namespace

Walk::Walk(std::vector<std::string> paths, WalkOptions options)
    : roots_(std::move(paths)), options_(options), found_(options) {}

void Walk::go_on(CallContext& context, Clock::duration slice) {
  const auto until = Clock::now() + slice;
  found_.begin();
  ThreadPool pool(kMaxThreads);
  while (!found_.full() && !ended_.load(std::memory_order_relaxed) && !context.cancelled()) {
    if (!advance(context, pool)) {
      found_.done();
      break;
    }
    if (Clock::now() >= until) break;
  }
  if (!tree_.empty()) found_.at(tree_.path());
  found_.publish();
}

bool Walk::advance(CallContext& context, ThreadPool& pool) {
  if (evicting_) {
    if (evicting_->eviction.step(context)) finish_eviction(context);
  } else if (!tree_.empty()) {
    go_on_in_directory(context, pool);
  } else if (next_root_ < roots_.size()) {
    begin_root(context, roots_[next_root_++]);
  } else {
    return false;
  }
  return true;
}

// A path that was given may be a link, and the file behind it is what is meant. What it is comes
// first: opening a device can have effects.
void Walk::begin_root(CallContext& context, const std::string& path) {
  found_.at(path);
  if (path.find('\0') != std::string::npos) return not_opened(path, "stat", EINVAL);
  context.enter("stat");
  struct stat about {};
  if (::fstatat(AT_FDCWD, path.c_str(), &about, 0) != 0) return not_opened(path, "stat", errno);
  if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    return count(&WalkSums::special, "special", path);
  context.enter("open");
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor opened(::open(path.c_str(), flags | O_NOATIME));
  if (!opened && errno == EPERM) opened = Descriptor(::open(path.c_str(), flags));
  if (!opened) return not_opened(path, "open", errno);
  if (::fstat(opened.get(), &about) != 0) return not_opened(path, "fstat", errno);
  if (file_systems_.of(about.st_dev, opened.get()) == FileSystem::kPseudo)
    return found_.problem(path, pseudo_failure(path));
  if (S_ISDIR(about.st_mode)) return enter(std::move(opened), about, path);
  look(context, path, inspect(std::move(opened), options_.method));
}

// Names up to the next directory, then those files, then that directory.
void Walk::go_on_in_directory(CallContext& context, ThreadPool& pool) {
  if (!later_.empty()) return begin_eviction(context);
  if (below_) {
    const std::string name = std::move(*below_);
    below_.reset();
    return enter_directory(context, name);
  }
  const bool more = read_names(context);
  const int error = more ? 0 : errno;
  if (!files_.empty()) return inspect_files(context, pool);
  if (more) return;
  if (error != 0) found_.problem(tree_.path(), errno_failure("kernel", "getdents64", error));
  if (!tree_.leave()) found_.problem(tree_.path(), errno_failure("kernel", "openat ..", errno));
}

// False: there are no more, with errno set when they could not be read on.
bool Walk::read_names(CallContext& context) {
  context.enter("getdents64");
  for (size_t names = 0; !below_ && files_.size() < kMaxFiles && names < kMaxNames; ++names) {
    errno = 0;
    std::optional<TreeEntry> entry = tree_.next();
    if (!entry) return false;
    unsigned char type = entry->type;
    struct stat about {};
    if (type == DT_UNKNOWN) {
      if (::fstatat(tree_.directory(), entry->name.c_str(), &about,
                    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
        not_opened(entry->name, "fstatat", errno);
        continue;
      }
      type = IFTODT(about.st_mode);
    }
    if (type == DT_REG) {
      files_.push_back(std::move(entry->name));
    } else if (type == DT_DIR) {
      below_ = std::move(entry->name);
    } else if (type == DT_LNK) {
      count(&WalkSums::links, "link", entry->name);
    } else {
      count(&WalkSums::special, "special", entry->name);
    }
  }
  return true;
}

void Walk::enter_directory(CallContext& context, const std::string& name) {
  context.enter("openat");
  Descriptor directory = open_to_inspect(tree_.directory(), name.c_str(), O_DIRECTORY | O_NOATIME);
  if (!directory) return not_opened(name, "openat", errno);
  struct stat about {};
  if (::fstat(directory.get(), &about) != 0) return not_opened(name, "fstat", errno);
  const bool mounted = about.st_dev != tree_.dev();
  if (mounted && file_systems_.of(about.st_dev, directory.get()) == FileSystem::kPseudo)
    return found_.count(&WalkSums::pseudo);
  enter(std::move(directory), about, name);
}

void Walk::enter(Descriptor directory, const struct stat& about, const std::string& name) {
  // Met before: a path given twice, or a mount that shows a directory again.
  if (met_before(about)) return count(&WalkSums::links, "link", name);
  tree_.enter(std::move(directory), about.st_dev, about.st_ino, name);
  found_.count(&WalkSums::directories);
}

void Walk::inspect_files(CallContext& context, ThreadPool& pool) {
  context.enter("openat");
  std::vector<Inspected> looks(files_.size());
  const int directory = tree_.directory();
  const dev_t dev = tree_.dev();
  const CacheMethod method = options_.method;
  pool.parallel_for(files_.size(), [&](size_t i) {
    const char* name = files_[i].c_str();
    looks[i] = options_.evict ? inspect_and_evict(directory, dev, name, method)
                              : inspect(directory, dev, name, method);
  });
  for (size_t i = 0; i < looks.size(); ++i) {
    if (looks[i].later) {
      later_.push_back(std::move(files_[i]));
    } else {
      look(context, files_[i], std::move(looks[i]));
    }
  }
  files_.clear();
}

// One after the other: a large file has slices of its own, and what is open is one descriptor.
void Walk::begin_eviction(CallContext& context) {
  const std::string name = std::move(later_.back());
  later_.pop_back();
  context.enter("openat");
  look(context, name, inspect_open(tree_.directory(), name.c_str(), options_.method));
}

void Walk::look(CallContext& context, const std::string& name, Inspected found) {
  // Since the directory was read a socket, a FIFO (ENXIO) or a link (ELOOP) took its place.
  if (found.error == ENXIO) return count(&WalkSums::special, "special", name);
  if (found.error == ELOOP) return count(&WalkSums::links, "link", name);
  if (found.failed_call) return not_opened(name, found.failed_call, found.error);
  const struct stat& about = found.about;
  if (!S_ISREG(about.st_mode)) return count(&WalkSums::special, "special", name);
  if (met_before(about)) return count(&WalkSums::links, "link", name);

  const FileSystem home =
      file_systems_.of(about.st_dev, found.file ? found.file.get() : tree_.directory());
  if (home == FileSystem::kPseudo) return found_.count(&WalkSums::pseudo);
  WalkEntry entry{{}, "file", about.st_size, about.st_dev, about.st_ino, {}, false, {}, {}, {}};
  entry.memory = home == FileSystem::kMemory;
  if (Failure* failure = std::get_if<Failure>(&found.pages)) {
    entry.failure = std::move(*failure);
  } else {
    entry.pages = std::get<CachedPages>(found.pages);
  }
  if (found.left) entry.cached_after = static_cast<double>(*found.left);
  const bool something = !found.left && (!entry.pages || entry.pages->cached > 0);
  if (!options_.evict || entry.memory || !something) return deliver(std::move(entry), name);
  evict(context, std::move(entry), name, std::move(found.file));
}

void Walk::evict(CallContext& context, WalkEntry entry, const std::string& name, Descriptor file) {
  const auto size = static_cast<uint64_t>(*entry.bytes);
  const bool sync = options_.sync && !(entry.pages && entry.pages->clean());
  Eviction eviction(options_.method, file.get(), size, entry.pages);
  evicting_.emplace(Evicting{std::move(file), eviction, size, std::move(entry), name});
  if (!sync) return;
  const Fact<double> timing = evicting_->eviction.sync(context);
  if (const Failure* failure = failure_of(timing)) {
    evicting_->entry.failure = *failure;
    return finish_eviction(context);
  }
  evicting_->entry.sync_ms = std::get<double>(timing);
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
  deliver(std::move(entry), done.name);
}

void Walk::deliver(WalkEntry entry, const std::string& name) {
  if (found_.add(entry)) found_.list(std::move(entry), tree_.path_of(name));
}

bool Walk::met_before(const struct stat& about) {
  return !seen_.insert(about.st_dev, about.st_ino);
}

void Walk::count(double WalkSums::*sum, const char* what, const std::string& name) {
  if (!found_.lists_all()) return found_.count(sum);
  found_.count(sum, what, tree_.path_of(name));
}

// Below a given path, what is gone is gone. A given path that is not there is a mistake.
void Walk::not_opened(const std::string& name, const char* call, int error) {
  if (error == ENOENT && !tree_.empty()) return found_.count(&WalkSums::vanished);
  found_.problem(tree_.path_of(name), errno_failure("kernel", call, error));
}

}  // namespace umaprobe
