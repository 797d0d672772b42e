#include "runtime/thread_priority.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace umaprobe {

bool raise_priority(const char* name) {
  pthread_setname_np(pthread_self(), name);
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; 50,000 by default
  sched_param first{};
  first.sched_priority = sched_get_priority_min(SCHED_RR);
  if (pthread_setschedparam(pthread_self(), SCHED_RR, &first) == 0) return true;
  // Linux has a nice value for each thread.
  return ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), -20) == 0;
}

}  // namespace umaprobe
