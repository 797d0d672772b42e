// Counts the allocations that the main thread makes after its first fork, and says them at _exit.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static int counting;
static unsigned long counted;

static void count(void) {
  if (counting && syscall(SYS_gettid) == getpid()) counted++;
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

void _exit(int code) {
  char text[64];
  if (counting) {
    const int length = snprintf(text, sizeof text, "%lu allocations\n", counted);
    if (write(2, text, (size_t)length) < 0) code = 99;
  }
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
