// reread FILE LINE MS: prints a line of a file, and again after the time: the same stream, from its
// beginning.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_line(FILE* file, const char* name) {
  char line[256];
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, name, strlen(name)) == 0) {
      fputs(line, stdout);
      return;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  FILE* file = fopen(argv[1], "r");
  if (!file) return 1;
  print_line(file, argv[2]);
  usleep((useconds_t)atoi(argv[3]) * 1000);
  rewind(file);
  print_line(file, argv[2]);
  return fclose(file);
}
