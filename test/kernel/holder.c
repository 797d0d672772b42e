/*
 * Holds memory until its input ends, and prints "ready PID" once it does.
 *   holder anon BYTES          anonymous memory
 *   holder pool BYTES WORKERS  anonymous memory that WORKERS forked children share
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count < 3) return 2;
  const size_t bytes = strtoull(words[2], NULL, 10);
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  memset(memory, 7, bytes);
  const int workers = strcmp(words[1], "pool") == 0 && count > 3 ? atoi(words[3]) : 0;
  int pipes[2];
  if (pipe(pipes) != 0) return 4;
  for (int i = 0; i < workers; i++) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "pool_worker");
    /* Reading gives the child page table entries of its own for the shared pages. */
    volatile char sum = 0;
    for (size_t at = 0; at < bytes; at += 4096) sum += memory[at];
    if (write(pipes[1], "x", 1) != 1) return 5;
    pause();
    return 0;
  }
  for (int i = 0; i < workers; i++) {
    char one;
    if (read(pipes[0], &one, 1) != 1) return 6;
  }
  printf("ready %d\n", getpid());
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
