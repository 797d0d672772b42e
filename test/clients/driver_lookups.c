/* Looks names up in the CUDA driver, as programs do that open libcuda.so.1 by hand: by cuGetProcAddress for the
 * version in the first argument, and by dlsym. Prints those that are not found; then what a function answers that the
 * simulated machine lacks. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*Lookup)(const char*, void**, int, uint64_t, int*);

int main(int argc, char** argv) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const Lookup lookup = driver == NULL ? NULL : (Lookup)dlsym(driver, "cuGetProcAddress_v2");
  void* function = NULL;
  int found = -1, status;
  if (lookup == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  for (int i = 2; i < argc; i++) {
    status = lookup(argv[i], &function, atoi(argv[1]), 0, &found);
    if (status != 0 || found != 0 || function == NULL) {
      printf("%s: cuGetProcAddress %d, result %d\n", argv[i], status, found);
    }
    if (dlsym(driver, argv[i]) == NULL) printf("%s: no symbol\n", argv[i]);
  }
  status = ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
  lookup("cuMemCreate", &function, 12000, 0, &found);
  printf("cuInit %d, cuMemCreate %d\n", status, ((int (*)(void))function)());
  return 0;
}
