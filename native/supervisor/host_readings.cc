#include "supervisor/host_readings.h"

#include <algorithm>

#include "base/clock.h"
#include "base/digits.h"
#include "host/meminfo.h"
#include "record/pressure_totals.h"

namespace umaprobe {
namespace {

// A reading that is due at the next tick but for its jitter is taken now.
constexpr double kAlmost = 0.9;
constexpr double kBlock = 2.0 * (1 << 20);
constexpr size_t slot_of(std::string_view field) {
  for (size_t i = 0; i < kMeminfoFields; i++) {
    if (std::string_view(kMeminfo[i].field) == field) return i;
  }
  return kMeminfoFields;
}

// MemTotal that no line of meminfo explains: the row `unattributed` of lib/memory/ledger.ts.
double unattributed(const double* numbers) {
  constexpr size_t kRows[] = {slot_of("free"),
                              slot_of("cached"),
                              slot_of("buffers"),
                              slot_of("swapCached"),
                              slot_of("anonPages"),
                              slot_of("hugetlb"),
                              slot_of("sUnreclaim"),
                              slot_of("kernelStack"),
                              slot_of("pageTables"),
                              slot_of("secPageTables"),
                              slot_of("percpu"),
                              slot_of("zswap"),
                              slot_of("hardwareCorrupted")};
  double rest = numbers[slot_of("total")];
  for (const size_t row : kRows) {
    if (known(numbers[row])) rest -= numbers[row];
  }
  const double reclaimable = numbers[slot_of("kReclaimable")];
  const double slab = known(reclaimable) ? reclaimable : numbers[slot_of("sReclaimable")];
  return known(slab) ? rest - slab : rest;
}

int64_t whole(double bytes) { return known(bytes) ? static_cast<int64_t>(bytes) : -1; }

double real_seconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

double parse_free_blocks(std::string_view text, double page_size) {
  double bytes = kUnknown;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const size_t zone = line.find("zone");
    if (zone == std::string_view::npos) continue;
    line.remove_prefix(std::min(line.find_first_of("0123456789", zone), line.size()));
    if (!known(bytes)) bytes = 0;
    for (double block = page_size; !line.empty(); block *= 2) {
      const auto count = take_digits(line, 10, kMaxExactInteger);
      if (!count) return kUnknown;
      if (block >= kBlock) bytes += static_cast<double>(*count) * block;
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
  }
  return bytes;
}

HostReadings::HostReadings(Host& host, double floor, const ReadEvery& every, int descriptor)
    : host_(host),
      every_(every),
      near_below_(floor + every.near_free),
      page_size_(static_cast<double>(host.page_size())),
      time_scale_(host.time_scale()),
      records_(descriptor >= 0 && shared_.open(descriptor)) {}

Reading HostReadings::read() {
  const double now = real_seconds();
  SharedReading shared;
  shared.at_us = boot_us();
  last_.t = now * time_scale_;
  if (is_due(now)) {
    read_at_ = now;
    read_meminfo(last_, shared);
    read_at_free_ = last_.free;
  }
  if (now >= next_pressure_) {
    next_pressure_ = now + kAlmost * every_.pressure;
    read_pressure(shared);
  }
  if (blocks_ && now >= next_blocks_) {
    next_blocks_ = now + kAlmost * every_.blocks;
    char text[4096];
    const long length = host_.reread("/proc/buddyinfo", text, sizeof text);
    blocks_ = length > 0;
    last_.free_blocks =
        blocks_ ? parse_free_blocks({text, static_cast<size_t>(length)}, page_size_) : kUnknown;
  }
  shared.free = whole(last_.free);
  shared_.write(shared);
  return last_;
}

// Whether MemAvailable has to be read; reads MemFree if that decides it.
bool HostReadings::is_due(double now) {
  const auto near = [this] { return records_ || !(last_.free >= near_below_); };
  if (now >= read_at_ + kAlmost * (near() ? every_.available_near : every_.available)) return true;
  const std::optional<double> free = host_.free_memory();
  if (!free) return true;
  last_.free = *free;
  return near() && std::abs(*free - read_at_free_) >= every_.moved;
}

void HostReadings::read_meminfo(Reading& reading, SharedReading& shared) {
  char text[8192];
  double numbers[kMeminfoFields];
  const long length = host_.read_meminfo(text, sizeof text);
  parse_meminfo({text, static_cast<size_t>(std::max(length, 0L))}, numbers);
  reading.available = numbers[slot_of("available")];
  if (known(numbers[slot_of("free")])) reading.free = numbers[slot_of("free")];
  reading.swap_free = numbers[slot_of("swapFree")];
  reading.swap_total = numbers[slot_of("swapTotal")];
  reading.pool = unattributed(numbers);
  shared.available = whole(reading.available);
  shared.swap_free = whole(reading.swap_free);
  shared.dirty = whole(numbers[slot_of("dirty")]);
}

void HostReadings::read_pressure(SharedReading& shared) {
  char buffer[512];
  const long length = host_.reread("/proc/pressure/memory", buffer, sizeof buffer);
  const std::string_view text(buffer, static_cast<size_t>(std::max(length, 0L)));
  const auto line = parse_full_pressure(text);
  last_.pressure = line ? live_pressure_.add(last_.t, *line) : kUnknown;
  if (!records_) return;
  const PressureTotals totals = parse_pressure_totals(text);
  shared.some_us = totals.some_us;
  shared.full_us = totals.full_us;
}

}  // namespace umaprobe
