// MemAvailable in bytes, by an open descriptor of /proc/meminfo; -1: there is none.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double available(int meminfo) {
  char text[512];
  ssize_t length = pread(meminfo, text, sizeof text - 1, 0);
  if (length <= 0) return -1;
  text[length] = 0;
  const char *line = strstr(text, "MemAvailable:");
  return line ? strtod(line + 13, NULL) * 1024 : -1;
}
