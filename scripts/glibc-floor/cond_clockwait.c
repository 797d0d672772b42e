// std::condition_variable::wait_for waits on the steady clock with pthread_cond_clockwait
// (glibc 2.30). Where the running glibc has it, it is used; before that the wait is on the wall
// clock, as libstdc++ itself did then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

typedef int (*clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

static const long kSecond = 1000000000L;

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  clockwait real = (clockwait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (real != NULL) return real(condition, mutex, clock, until);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += kSecond;
    wall.tv_sec--;
  } else if (wall.tv_nsec >= kSecond) {
    wall.tv_nsec -= kSecond;
    wall.tv_sec++;
  }
  return pthread_cond_timedwait(condition, mutex, &wall);
}
