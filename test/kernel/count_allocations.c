// Counts the allocations that the main thread makes after its first fork, and says them at _exit.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static long (*real_syscall)(long, ...);
static int counting;
static unsigned long counted;

__attribute__((constructor)) static void find(void) {
  real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

static void count(void) {
  if (counting && real_syscall(SYS_gettid) == getpid()) counted++;
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}

pid_t fork(void) {
  pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  const pid_t pid = real();
  counting = pid > 0;
  return pid;
}

// A fork into a control group is clone3(2), for which glibc has no name.
long syscall(long number, ...) {
  long words[6];
  va_list rest;
  va_start(rest, number);
  for (int at = 0; at < 6; at++) words[at] = va_arg(rest, long);
  va_end(rest);
  const long result =
      real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  if (number == 435 && result > 0) counting = 1;
  return result;
}

void _exit(int code) {
  char text[64];
  if (counting) {
    const int length = snprintf(text, sizeof text, "%lu allocations\n", counted);
    if (write(2, text, (size_t)length) < 0) code = 99;
  }
  real_syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
