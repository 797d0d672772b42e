// taker KIND RATE LIMIT: takes RATE MiB a second of memory of this kind, up to LIMIT MiB, and keeps it for 40 s at most.
// KIND: private, shared (a mapping without a file), memfd, pipe, or the path of a file, as in /dev/shm.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char data[1 << 20];

static int write_all(int fd) {
  for (size_t done = 0; done < sizeof data;) {
    const ssize_t count = write(fd, data + done, sizeof data - done);
    if (count <= 0) return 0;
    done += (size_t)count;
  }
  return 1;
}

static int fill_pipe(void) {
  int ends[2];
  return pipe2(ends, O_NONBLOCK) == 0 && fcntl(ends[1], F_SETPIPE_SZ, sizeof data) > 0 && write_all(ends[1]);
}

static int map(int flags) {
  char *memory = mmap(NULL, sizeof data, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  memset(memory, 1, sizeof data);
  return 1;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  const char *kind = arguments[1];
  const double rate = atof(arguments[2]), limit = atof(arguments[3]);
  const struct rlimit files = {65536, 65536};
  setrlimit(RLIMIT_NOFILE, &files);
  alarm(40);
  int fd = -1;
  if (strcmp(kind, "memfd") == 0) fd = memfd_create("taker", 0);
  if (kind[0] == '/') fd = open(kind, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  memset(data, 1, sizeof data);
  puts("started");
  fflush(stdout);
  const double start = now();
  for (double taken = 0; taken < limit; taken++) {
    int done = 0;
    if (fd >= 0) done = write_all(fd);
    else if (strcmp(kind, "pipe") == 0) done = fill_pipe();
    else done = map(strcmp(kind, "shared") == 0 ? MAP_SHARED : MAP_PRIVATE);
    if (!done) return 1;
    while ((now() - start) * rate < taken + 1) usleep(200);
  }
  puts("has it");
  fflush(stdout);
  pause();
}
