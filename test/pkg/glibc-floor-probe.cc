// Uses each thing for which scripts/glibc-floor holds a stand-in, and prints what it did as JSON.
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#ifdef WITHOUT_CLOCKWAIT  // linked with --wrap=dlsym: as on a glibc that has no
                          // pthread_cond_clockwait
extern "C" void* __wrap_dlsym(void*, const char*) { return nullptr; }
#endif

static bool Catches() {
  try {
    std::string("short").at(100);
  } catch (const std::out_of_range&) {
    return true;
  }
  return false;
}

static double WaitsMs(double wanted_ms) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  auto start = std::chrono::steady_clock::now();
  never.wait_for(lock, std::chrono::duration<double, std::milli>(wanted_ms), [] { return false; });
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

static bool Wakes() {
  std::mutex mutex;
  std::condition_variable condition;
  bool done = false;
  std::thread other([&] {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
    condition.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  bool woken = condition.wait_for(lock, std::chrono::seconds(20), [&] { return done; });
  lock.unlock();
  other.join();
  return woken;
}

int main(int, char** argv) {
  std::random_device random;
  bool differs = false;
  for (unsigned first = random(), i = 0; i < 8; i++) differs |= random() != first;
  struct stat self = {}, link = {}, missing = {};
  auto shared = std::make_shared<int>(1), copy = shared;
  std::printf(
      "{\"catches\":%s,\"waitsMs\":%.1f,\"wakes\":%s,\"random\":%s,\"size\":%lld,\"isLink\":%s,"
      "\"missing\":%d,\"shared\":%ld}\n",
      Catches() ? "true" : "false", WaitsMs(120), Wakes() ? "true" : "false",
      differs ? "true" : "false",
      stat(argv[0], &self) == 0 ? static_cast<long long>(self.st_size) : -1LL,
      lstat("/proc/self/exe", &link) == 0 && S_ISLNK(link.st_mode) ? "true" : "false",
      stat("/no/such/file", &missing), shared.use_count());
}
