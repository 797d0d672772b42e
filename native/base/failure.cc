#include "base/failure.h"

#include <cerrno>
#include <system_error>

namespace umaprobe {
namespace {

struct ErrnoName {
  int number;
  const char* name;
};

// strerrorname_np() needs glibc 2.32; the prebuilt binary supports 2.28.
constexpr ErrnoName kErrnoNames[] = {
    {EPERM, "EPERM"},     {ENOENT, "ENOENT"},
    {EINTR, "EINTR"},     {EIO, "EIO"},
    {ENXIO, "ENXIO"},     {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},   {EACCES, "EACCES"},
    {EBUSY, "EBUSY"},     {EEXIST, "EEXIST"},
    {ENODEV, "ENODEV"},   {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},   {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},   {EMFILE, "EMFILE"},
    {EFBIG, "EFBIG"},     {ENOSPC, "ENOSPC"},
    {EROFS, "EROFS"},     {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOSYS, "ENOSYS"},   {ELOOP, "ELOOP"},
    {EPROTO, "EPROTO"},   {EOVERFLOW, "EOVERFLOW"},
    {ENOTSUP, "ENOTSUP"}, {ETIMEDOUT, "ETIMEDOUT"},
    {ESRCH, "ESRCH"},     {EBADF, "EBADF"},
    {ENODATA, "ENODATA"},
};

std::string errno_name(int error) {
  for (const ErrnoName& row : kErrnoNames) {
    if (row.number == error) return row.name;
  }
  return "ERRNO_" + std::to_string(error);
}

}  // namespace

Failure errno_failure(const char* source, const std::string& call, int error) {
  // generic_category() uses the thread-safe strerror_r, whichever of its two signatures libc has.
  return {source, call, error, errno_name(error), std::generic_category().message(error)};
}

}  // namespace umaprobe
