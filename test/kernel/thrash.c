// thrash FILE TASKS SECONDS WORKERS: reads pages of FILE at random in a control group whose limit is smaller than the
// file, so that each page must come from the disk again: the kernel counts the time as memory pressure. TASKS is the
// group's list of processes.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter(const char *tasks) {
  FILE *list = fopen(tasks, "w");
  if (list == NULL) return 0;
  fprintf(list, "%d\n", getpid());
  return fclose(list) == 0;
}

int main(int count, char **arguments) {
  struct stat info;
  if (count != 5 || !enter(arguments[2])) return 2;
  const int file = open(arguments[1], O_RDONLY);
  if (file < 0 || fstat(file, &info) != 0) return 3;
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  volatile char *pages = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) return 4;
  for (int worker = 0; worker < atoi(arguments[4]); worker++) {
    if (fork() != 0) continue;
    unsigned seed = (unsigned)worker;
    char sum = 0;
    alarm((unsigned)atoi(arguments[3]));
    for (;;) sum ^= pages[(size_t)rand_r(&seed) % (size_t)(info.st_size / 4096) * 4096];
  }
  while (wait(NULL) > 0) continue;
  return 0;
}
