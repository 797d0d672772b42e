/* The start of NVIDIA's CUDA runtime where it is linked statically, as strace shows it (nvcc 13.0): it
 * opens the driver, looks its functions up, initializes it, and asks for private tables. The runtime itself cannot be
 * shipped with this test; test/sim/sim/library/cudart.test.ts uses it where nvcc is installed. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*Lookup)(const char*, void**, int, uint64_t, int*);

int main(void) {
  static const unsigned char id[16] = {0x6b, 0xd5, 0xfb, 0x6c};
  const void* table = id;
  int found, status;
  void *init, *export_table;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const Lookup lookup = driver == NULL ? NULL : (Lookup)dlsym(driver, "cuGetProcAddress_v2");
  if (lookup == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  lookup("cuInit", &init, 12000, 0, &found);
  status = ((int (*)(unsigned))init)(0);
  printf("cuInit %d\n", status);
  lookup("cuGetExportTable", &export_table, 12000, 0, &found);
  for (int i = 0; i < 3; i++) {
    status = ((int (*)(const void**, const void*))export_table)(&table, id);
    printf("cuGetExportTable %d %s\n", status, table == NULL ? "no table" : "a table");
  }
  return 0;
}
