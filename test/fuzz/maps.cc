// /proc/<pid>/maps, the lines of smaps, and the flags in /proc/<pid>/stat.
#include <sys/sysmacros.h>

#include <cerrno>
#include <optional>

#include "check.h"
#include "pagecache/maps_text.h"

namespace {

// The value of nothing but digits of this base, at most `most`.
std::optional<uint64_t> number(const std::string& digits, int base, uint64_t most = ~0ull) {
  const char* const allowed = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
  if (digits.empty() || digits.find_first_not_of(allowed) != std::string::npos) return std::nullopt;
  errno = 0;
  const uint64_t value = std::strtoull(digits.c_str(), nullptr, base);
  if (errno != 0 || value > most) return std::nullopt;
  return value;
}

// The reference cuts the line into its columns first: range, rights, offset, device, inode.
std::optional<umaprobe::MapsLine> reference(const std::string& line) {
  const size_t rights = line.find(' ');
  if (rights == std::string::npos || rights + 6 > line.size() || line[rights + 5] != ' ') {
    return std::nullopt;
  }
  const auto range = fuzz::split(line.substr(0, rights), '-');
  const std::string rest = line.substr(rights + 6);
  const auto columns = fuzz::split(rest, ' ');
  if (range.size() != 2 || columns.size() < 3) return std::nullopt;
  const auto device = fuzz::split(columns[1], ':');
  if (device.size() != 2) return std::nullopt;
  // Whatever follows the digits of the inode without a space is no path.
  const std::string inode = columns[2].substr(0, columns[2].find_first_not_of("0123456789"));
  const auto ino = number(inode, 10);
  const auto major = number(device[0], 16, 0xffffffff), minor = number(device[1], 16, 0xffffffff);
  if (!number(range[0], 16) || !number(range[1], 16) || !number(columns[0], 16) || !major ||
      !minor || !ino) {
    return std::nullopt;
  }
  std::string path = rest.substr(columns[0].size() + columns[1].size() + 2 + inode.size());
  path.erase(0, std::min(path.find_first_not_of(' '), path.size()));
  return umaprobe::MapsLine{makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor)),
                            *ino, path.rfind('/', 0) == 0 ? path : ""};
}

std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == '\n') {
      text += "\\012";
    } else {
      text += c;
    }
  }
  return text;
}

void check_line(const std::string& line) {
  const fuzz::Exact exact(line);
  const auto parsed = umaprobe::parse_maps_line(exact.view());
  const auto expected = reference(line);
  PROPERTY(parsed.has_value() == expected.has_value());
  PROPERTY(!parsed || (parsed->dev == expected->dev && parsed->ino == expected->ino &&
                       parsed->path == expected->path));
  if (!parsed) return;
  PROPERTY(parsed->path.empty() || parsed->path[0] == '/');
  char head[128];
  std::snprintf(head, sizeof head, "7f0c000-7f1c000 r--s 00000000 %02x:%02x %llu    ",
                major(parsed->dev), minor(parsed->dev),
                static_cast<unsigned long long>(parsed->ino));
  const auto again = umaprobe::parse_maps_line(head + parsed->path);
  PROPERTY(again && again->dev == parsed->dev && again->ino == parsed->ino &&
           again->path == parsed->path);
}

// The flags are the ninth field, counted behind the name.
void check_stat(const fuzz::Exact& text) {
  const std::string stat(text.view());
  const size_t bracket = stat.rfind(')');
  bool expected = false;
  if (bracket != std::string::npos) {
    const auto fields = fuzz::split(stat.substr(bracket), ' ');
    if (fields.size() > 7) {
      const std::string digits = fields[7].substr(0, fields[7].find_first_not_of("0123456789"));
      errno = 0;
      const uint64_t flags = std::strtoull(digits.c_str(), nullptr, 10);
      expected = errno == 0 && (flags & 0x00200000) != 0;
    }
  }
  PROPERTY(umaprobe::is_kernel_thread_stat(text.view()) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Exact text(data, size);
  for (const std::string& line : fuzz::split(text.view(), '\n')) {
    check_line(line);
    const fuzz::Exact exact(line);
    PROPERTY(!umaprobe::is_locked_line(exact.view()) || line.rfind("Locked:", 0) == 0);
    PROPERTY(umaprobe::unescaped(exact.view()).size() <= line.size());
  }
  const std::string name(text.view());
  if (name.find("\\012") == std::string::npos) {
    PROPERTY(umaprobe::unescaped(escaped(name)) == name);
  }
  check_stat(text);
  return 0;
}
