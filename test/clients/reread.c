// reread FILE NAME MS: prints a line of a file, and again once it has changed or the time is over:
// the same stream, from its beginning.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_line(FILE* file, const char* name, char* line, int size) {
  while (fgets(line, size, file))
    if (strncmp(line, name, strlen(name)) == 0) return;
  line[0] = 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  FILE* file = fopen(argv[1], "r");
  if (!file) return 1;
  char first[256], line[256];
  read_line(file, argv[2], first, sizeof first);
  fputs(first, stdout);
  int left = atoi(argv[3]);
  do {
    usleep(20 * 1000);
    rewind(file);
    read_line(file, argv[2], line, sizeof line);
    left -= 20;
  } while (left > 0 && strcmp(first, line) == 0);
  fputs(line, stdout);
  return fclose(file);
}
