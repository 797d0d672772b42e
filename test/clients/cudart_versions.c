/* What a program gets from the CUDA runtime of each version, all of them in one process.
 *
 * A line for each function: how it was found, its name, the bytes that it wrote, and what they say. Opened: by the name
 * of the library, as ctypes and plugins do. Linked: as the loader resolves a program that was linked with the library
 * of one version, LINKED. The header of CUDA 12 renames cudaGetDeviceProperties, which -D does here. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int cudaRuntimeGetVersion(int* version);
int cudaGetDeviceProperties(void* properties, int device);

enum { kRoom = 4096, kUntouched = 0xA5 };

static int last_written(const unsigned char* bytes) {
  int size = kRoom;
  while (size > 0 && bytes[size - 1] == kUntouched) size--;
  return size;
}

static void show_version(const char* how, int (*get)(int*)) {
  int version = -1;
  const int status = get(&version);
  printf("%s cudaRuntimeGetVersion %d %d\n", how, status, version);
}

static void show_properties(const char* how, const char* name, int (*get)(void*, int)) {
  unsigned char bytes[kRoom];
  memset(bytes, kUntouched, sizeof bytes);
  const int status = get(bytes, 0);
  printf("%s %s %d %d bytes: %s\n", how, name, status, last_written(bytes), (char*)bytes);
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
    show_version(libraries[i], (int (*)(int*))dlsym(library, "cudaRuntimeGetVersion"));
    for (int k = 0; k < 2; k++) {
      void* const found = dlsym(library, names[k]);
      if (found != NULL) show_properties(libraries[i], names[k], (int (*)(void*, int))found);
    }
  }
  show_version("linked", cudaRuntimeGetVersion);
  show_properties("linked", "cudaGetDeviceProperties", cudaGetDeviceProperties);
  return 0;
}
