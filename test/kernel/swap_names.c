// swap_names FOLDER DECOYS NAME...: as fast as it can, puts each decoy of the folder DECOYS in the place of each name in
// FOLDER and takes it back, until stdin ends. Prints how often. With SAME file system for both.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int may_go_on(void) {
  struct pollfd in = {0, POLLIN, 0};
  return poll(&in, 1, 0) == 0;
}

int main(int count, char** words) {
  if (count < 4) return 2;
  const int folder = open(words[1], O_RDONLY | O_DIRECTORY);
  const int decoys = open(words[2], O_RDONLY | O_DIRECTORY);
  char names[16][64];
  int found = 0;
  DIR* list = fdopendir(dup(decoys));
  for (const struct dirent* entry; list != NULL && found < 16 && (entry = readdir(list)) != NULL;)
    if (entry->d_name[0] != '.') snprintf(names[found++], sizeof names[0], "%.63s", entry->d_name);
  if (folder < 0 || found == 0) return 3;
  puts("ready");
  fflush(stdout);
  long swaps = 0;
  for (long turn = 0; may_go_on(); turn++) {
    const char* name = words[3 + turn % (count - 3)];
    const char* decoy = names[turn / (count - 3) % found];
    const int there = faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (renameat2(decoys, decoy, folder, name, there ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) continue;
    swaps++;
    usleep(turn % 7 == 0 ? 2000 : turn % 3 * 50);
    // What a program has put there meanwhile stays, and the decoy with it goes to its place.
    if (renameat2(decoys, decoy, folder, name, RENAME_EXCHANGE) != 0) renameat2(folder, name, decoys, decoy, 0);
    usleep(turn % 5 == 0 ? 3000 : 20);
  }
  printf("%ld\n", swaps);
  return 0;
}
