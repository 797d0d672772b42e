// The unwinder of GCC 12 finds an object's exception tables with _dl_find_object (glibc 2.35). Here
// the same answer is made from dl_iterate_phdr, which the unwinder itself used before 2.35.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  uintptr_t start = UINTPTR_MAX, end = 0;
  const ElfW(Phdr)* tables = NULL;
  int hit = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    uintptr_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = segment;
    if (segment->p_type != PT_LOAD) continue;
    if (low < start) start = low;
    if (high > end) end = high;
    if (search->address >= low && search->address < high) hit = 1;
  }
  if (!hit) return 0;
  if (tables == NULL) return -1;
  *search->result = (struct dl_find_object){
      .dlfo_map_start = (void*)start,
      .dlfo_map_end = (void*)end,
      .dlfo_eh_frame = (void*)(info->dlpi_addr + tables->p_vaddr),
  };
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}
