#include "run/record/shared_readings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace umaprobe {
namespace {

constexpr unsigned int kCloseOnExec = 1;  // MFD_CLOEXEC, for headers without it

}  // namespace

SharedReadings::~SharedReadings() {
  if (memory_) ::munmap(memory_, sizeof *memory_);
}

bool SharedReadings::create() {
  file_ =
      Descriptor(static_cast<int>(::syscall(SYS_memfd_create, "umaprobe-readings", kCloseOnExec)));
  return file_ && ::ftruncate(file_.get(), sizeof(Memory)) == 0 && map();
}

bool SharedReadings::open(int descriptor) {
  file_ = Descriptor(descriptor);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  struct stat about;
  if (::fstat(descriptor, &about) != 0 || about.st_size != sizeof(Memory) || !map()) return false;
  uint32_t nobody = 0;
  if (memory_->writing.compare_exchange_strong(nobody, 1)) return true;
  ::munmap(memory_, sizeof *memory_);
  memory_ = nullptr;
  return false;
}

bool SharedReadings::map() {
  void* address =
      ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (address == MAP_FAILED) return false;
  memory_ = static_cast<Memory*>(address);
  return true;
}

void SharedReadings::forget_writer() {
  if (memory_) memory_->writing.store(0);
}

void SharedReadings::write(const MemoryReading& reading) {
  if (!memory_) return;
  const uint64_t number = memory_->written.load(std::memory_order_relaxed);
  memory_->readings[number % kSize] = reading;
  memory_->written.store(number + 1, std::memory_order_release);
}

void SharedReadings::end_writing() {
  if (!memory_) return;
  forget_writer();
  ::munmap(std::exchange(memory_, nullptr), sizeof *memory_);
}

}  // namespace umaprobe
