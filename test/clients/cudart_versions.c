/* What a program gets from the CUDA runtime of each version, all of them in one process.
 *
 * A line for each function: how it was found, its name, the bytes that it wrote, and what they say. Opened: by the
 * name of the library, as ctypes and plugins do. Linked: by its symbol version, as the loader resolves a program that
 * was linked with NVIDIA's library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { kRoom = 4096, kUntouched = 0xA5 };

static int last_written(const unsigned char* bytes) {
  int size = kRoom;
  while (size > 0 && bytes[size - 1] == kUntouched) size--;
  return size;
}

static void show_version(const char* how, const char* library, int (*get)(int*)) {
  int version = -1;
  const int status = get(&version);
  printf("%s %s cudaRuntimeGetVersion %d %d\n", how, library, status, version);
}

static void show_properties(const char* how, const char* library, const char* name,
                            int (*get)(void*, int)) {
  unsigned char bytes[kRoom];
  memset(bytes, kUntouched, sizeof bytes);
  const int status = get(bytes, 0);
  printf("%s %s %s %d %d bytes: %s\n", how, library, name, status, last_written(bytes), (char*)bytes);
}

int main(void) {
  static const char* const libraries[] = {"libcudart.so.12", "libcudart.so.11.0", "libcudart.so.13"};
  static const char* const names[] = {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"};
  for (int i = 0; i < 3; i++) {
    void* const library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    void* found = dlsym(library, "cudaRuntimeGetVersion");
    show_version("opened", libraries[i], (int (*)(int*))found);
    for (int k = 0; k < 2; k++) {
      found = dlsym(library, names[k]);
      if (found != NULL) show_properties("opened", libraries[i], names[k], (int (*)(void*, int))found);
    }
  }
  for (int i = 0; i < 3; i++) {
    void* found = dlvsym(RTLD_DEFAULT, "cudaRuntimeGetVersion", libraries[i]);
    if (found != NULL) show_version("linked", libraries[i], (int (*)(int*))found);
    for (int k = 0; k < 2; k++) {
      found = dlvsym(RTLD_DEFAULT, names[k], libraries[i]);
      if (found != NULL) show_properties("linked", libraries[i], names[k], (int (*)(void*, int))found);
    }
  }
  return 0;
}
