// A few threads that share the pieces of one job with the thread that has it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace umaprobe {

class Crew {
 public:
  // Helpers come with the first run. `most`: threads in all, this one included; never more than
  // there are processors.
  explicit Crew(unsigned most);
  // Waits for the helpers: for threads that may hang, such as a lane's.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls piece(0) to piece(count - 1), each once, on any of the threads; returns after the last.
  void run(size_t count, const std::function<void(size_t)>& piece);

 private:
  // `done`: rounds that were over before it came.
  void help(unsigned done);
  void take_pieces();

  const unsigned helpers_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable finished_;
  unsigned round_ = 0;
  unsigned busy_ = 0;
  bool over_ = false;

  const std::function<void(size_t)>* piece_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
};

}  // namespace umaprobe
