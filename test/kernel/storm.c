// storm MIB COUNT: a process takes MIB MiB and forks, and so does each child, until COUNT have; all of them then compute.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const size_t size = (size_t)atoi(arguments[1]) << 20;
  const int most = atoi(arguments[2]);
  alarm(60);
  int *begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (begun == MAP_FAILED) return 1;
  while (__sync_fetch_and_add(begun, 1) < most) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) memset(memory, 1, size);
    fork();
  }
  for (volatile int i = 0;; i++) {
  }
}
