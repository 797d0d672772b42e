// What programs can get: MemAvailable, and once that is below a threshold the free pages in the lists
// of the processors, which the guards count besides.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Bytes of /proc/zoneinfo in those lists.
static double cpu_lists(void) {
  static char text[1 << 20];
  int file = open("/proc/zoneinfo", O_RDONLY);
  size_t size = 0;
  for (ssize_t count; (count = read(file, text + size, sizeof text - 1 - size)) > 0;)
    size += count;
  close(file);
  text[size] = 0;
  double pages = 0;
  for (char *at = text; (at = strstr(at, " count:")) != NULL;) pages += strtod(at += 7, &at);
  return pages * sysconf(_SC_PAGESIZE);
}

// `meminfo`: an open descriptor of /proc/meminfo.
static double left(int meminfo, double threshold) {
  char text[512];
  ssize_t length = pread(meminfo, text, sizeof text - 1, 0);
  if (length <= 0) return -1;
  text[length] = 0;
  const char *line = strstr(text, "MemAvailable:");
  double available = line ? strtod(line + 13, NULL) * 1024 : -1;
  return available < threshold ? available + cpu_lists() : available;
}
