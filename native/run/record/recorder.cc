#include "run/record/recorder.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "host/meminfo.h"
#include "runtime/thread_priority.h"

namespace umaprobe {
namespace {

// A guard that ends leaves a gap of at most this in the readings.
constexpr auto kSharedInterval = std::chrono::milliseconds(100);
constexpr auto kWriterIsGone = std::chrono::seconds(1);
constexpr size_t kMaxNotes = 1024;
constexpr size_t kMaxNoteBytes = 64u << 10;
constexpr size_t kMaxPending = 1u << 20;

// A frame has -1 for a number that was not read.
int64_t whole(double number) { return known(number) ? static_cast<int64_t>(number) : -1; }

MemoryReader::Every read_every() {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  MemoryReader::Every every;
  every.available = pace::kAvailableNear;
  every.pressure = every.blocks = every.lists = kNever;
  return every;
}

std::string timed_note(const std::string& json) {
  return "{\"bootUs\":" + std::to_string(boot_us()) + ",\"note\":" + json + "}";
}

// The note is in the recording itself, because nobody may be there to read a warning.
std::string full_disk_note(uint64_t removed) {
  return timed_note(
      "{\"type\":\"problem\",\"text\":\"the disk is full: " + std::to_string(removed) +
      (removed == 1 ? " old segment was" : " old segments were") +
      " removed early, and the recording goes on in what it has\"}");
}

void keep_lowest(std::optional<double>& lowest, int64_t bytes) {
  if (bytes >= 0)
    lowest = std::min(lowest.value_or(static_cast<double>(bytes)), static_cast<double>(bytes));
}

}  // namespace

Fact<std::shared_ptr<Recorder>> Recorder::start(const RecorderOptions& options,
                                                const MachineConfig& config) {
  std::unique_ptr<Host> host = open_host(config);
  double numbers[kMeminfoFields];
  if (auto failed = read_meminfo(*host, numbers)) return std::move(*failed);
  auto recorder = std::make_shared<Recorder>(options, std::move(host));
  if (auto failed = recorder->segments_.open()) return std::move(*failed);
  recorder->shared_.create();
  recorder->report_.update([](RecorderReport& report) { report.running = true; });
  try {
    std::thread([recorder] { recorder->write_thread(); }).detach();
    std::thread([recorder] { recorder->sample_thread(); }).detach();
  } catch (const std::system_error& error) {
    recorder->sampling_ended_ = true;
    recorder->stop();
    return errno_failure("umaprobe", "recorderStart", error.code().value());
  }
  return recorder;
}

Recorder::Recorder(const RecorderOptions& options, std::unique_ptr<Host> host)
    : options_(options),
      host_(std::move(host)),
      segments_(options.segments),
      reader_(*host_, read_every()) {}

bool Recorder::note(const std::string& json) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_ || json.size() > kMaxNoteBytes || notes_.size() >= kMaxNotes) return false;
  notes_.push_back(timed_note(json));
  wake_writer_.notify();
  return true;
}

void Recorder::stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  wake_sampler_.notify();
}

RecorderReport Recorder::read() const {
  return report_.read([](const RecorderReport& report) { return report; });
}

int Recorder::readings_for(int interval_us) const {
  const std::chrono::microseconds interval(interval_us);
  const bool often = interval_us <= options_.interval_us && 2 * interval <= kSharedInterval;
  return often ? shared_.descriptor() : -1;
}

void Recorder::sample_thread() {
  raise_priority("umaprobe-record");
  const auto interval = std::chrono::microseconds(options_.interval_us);
  std::unique_lock<std::mutex> lock(mutex_);
  for (auto next = Clock::now(); !stopping_;) {
    const auto now = Clock::now();
    if (now < next) {
      wake_sampler_.wait_until(lock, next);
      continue;
    }
    lock.unlock();
    const bool shared = take_shared(now);
    if (!shared) add(reader_.read());
    lock.lock();
    // Missed readings are skipped.
    next = shared ? now + kSharedInterval : std::max(next + interval, Clock::now());
  }
  lock.unlock();
  if (frame_.samples > 0) finish_frame(boot_us());
  lock.lock();
  sampling_ended_ = true;
  wake_writer_.notify();
}

// Returns false if no guard reads, so that this thread has to.
bool Recorder::take_shared(Clock::time_point now) {
  if (shared_.take([this](const MemoryReading& reading) { add(reading); }) > 0) {
    shared_at_ = now;
    return true;
  }
  if (now - shared_at_ > kWriterIsGone) {
    shared_.forget_writer();
    shared_at_ = now;
  }
  return false;
}

void Recorder::add(const MemoryReading& reading) {
  if (frame_.samples > 0 && reading.at_us - frame_.start_us >= options_.frame_us)
    finish_frame(reading.at_us);
  if (frame_.samples == 0) frame_.start_us = reading.at_us;
  frame_.samples++;
  if (reading.has_meminfo) {
    if (known(reading.available)) frame_.available.add(whole(reading.available));
    frame_.swap_free = whole(reading.swap_free);
    frame_.dirty = whole(reading.dirty);
  }
  if (reading.has_pressure) {
    frame_.some_us = whole(reading.some_us);
    frame_.full_us = whole(reading.full_us);
  }
  const int64_t free = whole(reading.free);
  if (free < 0) return;
  if (frame_.free.lowest < 0 || free < frame_.free.lowest)
    frame_.lowest_at_us =
        static_cast<uint32_t>(std::max<int64_t>(reading.at_us - frame_.start_us, 0));
  frame_.free.add(free);
}

void Recorder::finish_frame(int64_t end_us) {
  frame_.duration_us = static_cast<uint32_t>(end_us - frame_.start_us);
  if (frame_.some_us < 0) {
    reader_.read_pressure();
    frame_.some_us = whole(reader_.last().some_us);
    frame_.full_us = whole(reader_.last().full_us);
  }
  bool is_full = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_full = frame_count_ == frames_.size();
    if (is_full) {
      // The newest are worth more than the oldest.
      first_frame_ = (first_frame_ + 1) % frames_.size();
      frame_count_--;
      lost_++;
    }
    frames_[(first_frame_ + frame_count_++) % frames_.size()] = frame_;
  }
  report_.update([&](RecorderReport& report) {
    report.samples += frame_.samples;
    report.frames++;
    report.lostFrames += is_full;
    report.cpuMs = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    keep_lowest(report.lowestFree, frame_.free.lowest);
    keep_lowest(report.lowestAvailable, frame_.available.lowest);
  });
  frame_ = Frame{};
}

void Recorder::write_thread() {
  std::string records;
  double notes = 0;  // number of notes in `records`
  uint64_t told_removed = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (auto next = Clock::now();;) {
    while (Clock::now() < next && notes_.empty() && !sampling_ended_)
      wake_writer_.wait_until(lock, next);
    const bool last = sampling_ended_;
    next = Clock::now() + std::chrono::microseconds(options_.sync_us);
    for (; frame_count_ > 0; frame_count_--) {
      Frame& frame = frames_[first_frame_];
      first_frame_ = (first_frame_ + 1) % frames_.size();
      frame.lost = std::exchange(lost_, 0);
      append_frame(records, frame);
    }
    for (; !notes_.empty(); notes_.pop_front(), notes++) append_note(records, notes_.front());
    if (segments_.removed_for_room() > told_removed) {
      told_removed = segments_.removed_for_room();
      append_note(records, full_disk_note(told_removed));
    }
    lock.unlock();
    const uint64_t before = segments_.written();
    std::optional<Failure> failed;
    const bool had_records = !records.empty();
    if (had_records) failed = segments_.append(records);
    // The folder is free for the next recorder once this one no longer runs.
    if (last) segments_.close();
    // Records that could not be written are tried again.
    const double written_notes = failed ? 0 : std::exchange(notes, 0);
    if (!failed || segments_.written() != before || records.size() > kMaxPending) records.clear();
    report_.update([&](RecorderReport& report) {
      if (had_records) report.failure = std::move(failed);
      report.writtenNotes += written_notes;
      report.writtenBytes = static_cast<double>(segments_.written());
      report.removedSegments = static_cast<double>(segments_.removed_for_room());
      if (last) report.running = false;
    });
    lock.lock();
    if (last) return;
  }
}

}  // namespace umaprobe
