// Records the memory of the machine without JavaScript: one thread reads, another one writes, so
// that a disk that is slow for seconds delays no reading.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "base/monotonic_condition.h"
#include "base/shared.h"
#include "host/memory_reader.h"
#include "run/record/format.h"
#include "run/record/segments.h"
#include "run/record/shared_readings.h"

namespace umaprobe {

struct RecorderOptions {
  int interval_us = 0;  // time between readings of MemFree, 1,000 to 1,000,000
  int frame_us = 0;     // length of a frame
  int sync_us = 0;      // time between two writes
  Segments::Options segments;
};

struct RecorderReport {
  bool running = false;
  double samples = 0;
  double frames = 0;
  double lostFrames = 0;  // frames that were not written in time
  double writtenBytes = 0;
  double writtenNotes = 0;     // notes of note() since the start
  double removedSegments = 0;  // segments removed because the disk is full
  double cpuMs = 0;            // processor time of the thread that reads
  std::optional<double> lowestFree;
  std::optional<double> lowestAvailable;
  std::optional<Failure> failure;  // the last write's; empty: it succeeded

  template <class Visitor>
  void visit(Visitor& field) const {
    field("running", running);
    field("samples", samples);
    field("frames", frames);
    field("lostFrames", lostFrames);
    field("writtenBytes", writtenBytes);
    field("writtenNotes", writtenNotes);
    field("removedSegments", removedSegments);
    field("cpuMs", cpuMs);
    field.nullable("lowestFree", lowestFree);
    field.nullable("lowestAvailable", lowestAvailable);
    field.nullable("failure", failure);
  }
};

class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  // Opens the folder and writes the header on the calling thread.
  static Fact<std::shared_ptr<Recorder>> start(const RecorderOptions& options,
                                               const MachineConfig& config);
  Recorder(const RecorderOptions& options, std::unique_ptr<Host> host);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Adds a JSON text with the time of this call; it is written within milliseconds. False: too many
  // wait, or it is too long.
  bool note(const std::string& json);
  // Ends both threads once everything is written. Does not wait.
  void stop();
  RecorderReport read() const;
  const std::string& folder() const { return options_.segments.folder; }

  // Shared memory for a guard that reads every `interval_us`: while it does, the recorder takes its
  // readings and reads nothing itself. -1: there is none, or the guard reads too seldom.
  int readings_for(int interval_us) const;

 private:
  void sample_thread();
  void write_thread();
  bool take_shared(Clock::time_point now);
  void add(const MemoryReading& reading);
  void finish_frame(int64_t end_us);

  const RecorderOptions options_;
  const std::unique_ptr<Host> host_;
  Segments segments_;  // only the writing thread uses it, once it runs

  // Only the reading thread uses these.
  Frame frame_;
  MemoryReader reader_;
  SharedReadings shared_;
  Clock::time_point shared_at_;

  Shared<RecorderReport> report_;

  std::mutex mutex_;
  MonotonicCondition wake_sampler_;
  MonotonicCondition wake_writer_;
  bool stopping_ = false;
  bool sampling_ended_ = false;
  // 51 s of frames of 100 ms: no healthy disk is slow for longer.
  std::array<Frame, 512> frames_;
  size_t first_frame_ = 0;
  size_t frame_count_ = 0;
  uint32_t lost_ = 0;
  std::deque<std::string> notes_;
};

}  // namespace umaprobe
