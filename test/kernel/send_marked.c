/* Sends a stop signal as umaprobe-guard does: send_marked UMAPROBE PROGRAM. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

int main(int count, char** words) {
  union sigval value = {0};
  if (count != 3) return 2;
  value.sival_ptr = (void*)((uintptr_t)0x756d61 << 32 | (uintptr_t)atol(words[2]));
  return sigqueue((pid_t)atol(words[1]), SIGTSTP, value) != 0;
}
