#include "host/memory_reader.h"

#include <algorithm>

#include "base/clock.h"
#include "host/free_pages.h"
#include "host/meminfo.h"

namespace umaprobe {
namespace {

// A reading that is due at the next tick, apart from jitter, is taken now.
constexpr double kAlmost = 0.9;

double real_seconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

MemoryReader::MemoryReader(Host& host, const Every& every)
    : host_(host),
      every_(every),
      page_size_(static_cast<double>(host.page_size())),
      time_scale_(host.time_scale()),
      buffer_(new char[kBuffer]),
      read_at_(-every.available) {}

const MemoryReading& MemoryReader::read() {
  const double now = real_seconds();
  last_.at_us = boot_us();
  last_.t = now * time_scale_;
  last_.has_meminfo = last_.has_pressure = false;
  if (is_due(now)) read_meminfo(now);
  if (now >= next_pressure_ && std::isfinite(every_.pressure)) {
    next_pressure_ = now + kAlmost * every_.pressure;
    read_pressure();
  }
  if (now >= next_blocks_ && std::isfinite(every_.blocks)) {
    next_blocks_ = now + kAlmost * every_.blocks;
    last_.free_blocks = parse_free_blocks(text_of("/proc/buddyinfo"), page_size_);
  }
  // A reading of only one would say too much or too little: pages move between MemAvailable and the
  // lists.
  if (last_.has_meminfo && lists_are_due(now)) {
    lists_at_ = now;
    last_.free_in_cpu_lists = parse_cpu_lists(text_of("/proc/zoneinfo"), page_size_);
  }
  return last_;
}

std::string_view MemoryReader::text_of(const char* path) {
  const long length = host_.reread(path, buffer_.get(), kBuffer);
  return {buffer_.get(), static_cast<size_t>(std::max(length, 0L))};
}

// Returns whether MemAvailable has to be read; reads MemFree if that decides it. /proc/meminfo
// takes 20 µs, sysinfo(2) one. MemAvailable is at least MemFree less the kernel's reserve.
bool MemoryReader::is_due(double now) {
  const auto near = [this] { return !(last_.free >= every_.near_below); };
  if (now >= read_at_ + kAlmost * (near() ? every_.available_near : every_.available)) return true;
  const std::optional<double> free = host_.free_memory();
  if (!free) return true;
  last_.free = *free;
  return near() && std::abs(*free - read_at_free_) >= every_.moved;
}

bool MemoryReader::lists_are_due(double now) const {
  const bool near = last_.available < every_.lists_below;
  return now >= lists_at_ + kAlmost * (near ? every_.lists_near : every_.lists);
}

void MemoryReader::read_meminfo(double now) {
  read_at_ = now;
  double numbers[kMeminfoFields];
  parse_meminfo(text_of("/proc/meminfo"), numbers);
  last_.has_meminfo = true;
  last_.available = numbers[meminfo_slot("available")];
  if (known(numbers[meminfo_slot("free")])) last_.free = numbers[meminfo_slot("free")];
  last_.swap_free = numbers[meminfo_slot("swapFree")];
  last_.swap_total = numbers[meminfo_slot("swapTotal")];
  last_.dirty = numbers[meminfo_slot("dirty")];
  read_at_free_ = last_.free;
}

void MemoryReader::read_pressure() {
  const Pressure pressure = parse_pressure(text_of("/proc/pressure/memory"));
  last_.has_pressure = true;
  last_.pressure = pressure.full ? live_pressure_.add(last_.t, *pressure.full) : kUnknown;
  last_.some_us = pressure.some ? pressure.some->total : kUnknown;
  last_.full_us = pressure.full ? pressure.full->total : kUnknown;
}

}  // namespace umaprobe
