// std::random_device of a libstdc++ built against glibc 2.36 refers to arc4random.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t value;
  // A request of four bytes is never cut short; it fails only where the kernel has no getrandom
  // (before 3.17).
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) abort();
  return value;
}
