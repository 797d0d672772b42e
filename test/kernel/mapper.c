/* Maps a file and reads all of it, locks it for "lock", prints "ready PID", and holds it until its input ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count < 3) return 2;
  const int fd = open(words[2], O_RDONLY);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) return 3;
  const volatile char* bytes = mmap(NULL, about.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) return 4;
  for (off_t at = 0; at < about.st_size; at += 4096) (void)bytes[at];
  if (strcmp(words[1], "lock") == 0 && mlock((const void*)bytes, about.st_size) != 0) return 5;
  close(fd);
  printf("ready %d\n", getpid());
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
