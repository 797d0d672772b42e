// A few threads that run the tasks of one loop together with the calling thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace umaprobe {

class ThreadPool {
 public:
  // `max_threads` includes the calling thread and is capped at the number of processors. Threads
  // start with the first parallel_for().
  explicit ThreadPool(unsigned max_threads);
  // Joins all threads. Create a pool only on threads that may hang, such as a worker thread.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls task(0) to task(count - 1), each once, on any of the threads. Returns after the last.
  void parallel_for(size_t count, const std::function<void(size_t)>& task);

 private:
  // Body of a pool thread. `done`: number of loops begun before the thread started.
  void run_thread(unsigned done);
  void run_chunks();

  const unsigned max_helpers_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable finished_;
  unsigned loops_ = 0;  // number of loops begun
  unsigned busy_ = 0;   // threads that have not finished the current loop
  bool stopping_ = false;

  const std::function<void(size_t)>* task_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
};

}  // namespace umaprobe
