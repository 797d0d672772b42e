/* The memory of the host as libc tells it, in bytes. */
#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int main(void) {
  const long page = sysconf(_SC_PAGESIZE);
  struct sysinfo info;
  if (sysinfo(&info) != 0) return 1;
  printf("sysinfo %lu %lu %lu %lu %lu %lu\n", info.totalram * info.mem_unit,
         info.freeram * info.mem_unit, info.sharedram * info.mem_unit,
         info.bufferram * info.mem_unit, info.totalswap * info.mem_unit,
         info.freeswap * info.mem_unit);
  printf("sysconf %ld %ld\n", sysconf(_SC_PHYS_PAGES) * page, sysconf(_SC_AVPHYS_PAGES) * page);
  printf("pages %ld %ld\n", get_phys_pages() * page, get_avphys_pages() * page);
  return 0;
}
