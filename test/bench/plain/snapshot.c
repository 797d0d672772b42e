// The plain program that snapshot() and `umaprobe` at the shell are measured against: the same calls of CUDA and NVML and
// the same files, one after the other on one thread, with a parse of the numbers. The libraries are opened with dlopen and
// declared here, so that the program needs no header of NVIDIA.
//
//   snapshot loop N   p50 and p90 of N warm readings without a context, in nanoseconds
//   snapshot once     one reading with a context and cuMemGetInfo; prints the numbers
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct { unsigned pid; unsigned long long bytes; unsigned gpu, compute; } Process;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } Memory;
typedef struct { unsigned version, mode; } AddressingMode;
typedef struct { unsigned gpu, memory; } Utilization;

enum { kMaxDevices = 16, kMaxProcesses = 64, kVersion2 = 2 << 24, kVersion1 = 1 << 24 };

static int (*cu_init)(unsigned), (*cu_count)(int *), (*cu_get)(int *, int),
    (*cu_state)(int, unsigned *, int *), (*cu_retain)(void **, int), (*cu_set)(void *),
    (*cu_info)(size_t *, size_t *);
static int (*nv_init)(void), (*nv_count)(unsigned *), (*nv_handle)(unsigned, void **),
    (*nv_memory)(void *, Memory *), (*nv_compute)(void *, unsigned *, Process *),
    (*nv_graphics)(void *, unsigned *, Process *), (*nv_mode)(void *, AddressingMode *),
    (*nv_use)(void *, Utilization *), (*nv_heat)(void *, int, unsigned *),
    (*nv_power)(void *, unsigned *), (*nv_clock)(void *, int, unsigned *);

static void *symbol(void *library, const char *name) {
  void *found = library == NULL ? NULL : dlsym(library, name);
  if (found != NULL) return found;
  fprintf(stderr, "no %s\n", name);
  exit(2);
}

static void open_libraries(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
#define LOAD(library, variable, name) *(void **)&variable = symbol(library, name)
  LOAD(cuda, cu_init, "cuInit");
  LOAD(cuda, cu_count, "cuDeviceGetCount");
  LOAD(cuda, cu_get, "cuDeviceGet");
  LOAD(cuda, cu_state, "cuDevicePrimaryCtxGetState");
  LOAD(cuda, cu_retain, "cuDevicePrimaryCtxRetain");
  LOAD(cuda, cu_set, "cuCtxSetCurrent");
  LOAD(cuda, cu_info, "cuMemGetInfo_v2");
  LOAD(nvml, nv_init, "nvmlInit_v2");
  LOAD(nvml, nv_count, "nvmlDeviceGetCount_v2");
  LOAD(nvml, nv_handle, "nvmlDeviceGetHandleByIndex_v2");
  LOAD(nvml, nv_memory, "nvmlDeviceGetMemoryInfo_v2");
  LOAD(nvml, nv_compute, "nvmlDeviceGetComputeRunningProcesses_v3");
  LOAD(nvml, nv_graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  LOAD(nvml, nv_mode, "nvmlDeviceGetAddressingMode");
  LOAD(nvml, nv_use, "nvmlDeviceGetUtilizationRates");
  LOAD(nvml, nv_heat, "nvmlDeviceGetTemperature");
  LOAD(nvml, nv_power, "nvmlDeviceGetPowerUsage");
  LOAD(nvml, nv_clock, "nvmlDeviceGetClockInfo");
  if (cu_init(0) != 0 || nv_init() != 0) {
    fprintf(stderr, "no driver\n");
    exit(2);
  }
}

static char text[1 << 20];  // zoneinfo of 144 processors has 0.2 MiB

static int read_text(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  size_t length = 0;
  for (ssize_t count; length < sizeof text - 1; length += (size_t)count)
    if ((count = read(fd, text + length, sizeof text - 1 - length)) <= 0) break;
  close(fd);
  text[length] = 0;
  return length > 0;
}

static double after(const char *key) {
  const char *found = strstr(text, key);
  return found == NULL ? -1 : strtod(found + strlen(key), NULL);
}

// Every line of meminfo, the pressure averages, the free blocks, ten counters and the cgroup.
static double read_kernel(void) {
  static const char *const counters[] = {
      "compact_stall ",   "compact_fail ",  "compact_success ", "pgscan_direct ", "pgsteal_direct ",
      "pgscan_kswapd ",   "pgsteal_kswapd ", "oom_kill ",       "pgmajfault ",    "allocstall_normal "};
  static char usage[512] = "";
  double sum = 0;
  if (read_text("/proc/meminfo"))
    for (const char *line = text; (line = strchr(line, ':')) != NULL;) sum += strtod(++line, NULL);
  if (read_text("/proc/pressure/memory"))
    for (const char *at = text; (at = strchr(at, '=')) != NULL;) sum += strtod(++at, NULL);
  if (read_text("/proc/buddyinfo")) {
    const char *row = strstr(text, "Normal");
    char *end = row == NULL ? NULL : (char *)row + 6;
    for (char *next = end; end != NULL && *end != '\n'; end = next) {
      sum += strtod(end, &next);
      if (next == end) break;
    }
  }
  // Free pages in the lists of the processors.
  if (read_text("/proc/zoneinfo"))
    for (const char *at = text; (at = strstr(at, "count: ")) != NULL;) sum += strtod(at += 7, NULL);
  if (read_text("/proc/vmstat"))
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) sum += after(counters[i]);
  if (read_text("/proc/self/cgroup") && usage[0] == 0) {
    char *path = strstr(text, "0::");
    if (path != NULL) {
      path[strcspn(path, "\n")] = 0;
      snprintf(usage, sizeof usage, "/sys/fs/cgroup%s/memory.current", path + 3);
    }
  }
  if (read_text(usage)) sum += strtod(text, NULL);
  return sum;
}

static double read_device(unsigned index) {
  void *device = NULL;
  Process list[kMaxProcesses];
  double sum = 0;
  int cuda = 0, active = 0;
  unsigned flags = 0, value = 0, count = kMaxProcesses;
  if (cu_get(&cuda, (int)index) == 0) cu_state(cuda, &flags, &active);
  if (nv_handle(index, &device) != 0) return 0;
  Memory memory = {kVersion2 | sizeof(Memory), 0, 0, 0, 0};
  if (nv_memory(device, &memory) == 0) sum += (double)memory.free;
  AddressingMode mode = {kVersion1 | sizeof(AddressingMode), 0};
  nv_mode(device, &mode);
  for (int graphics = 0; graphics < 2; graphics++) {
    count = kMaxProcesses;
    if ((graphics ? nv_graphics : nv_compute)(device, &count, list) != 0) continue;
    for (unsigned i = 0; i < count; i++) {
      char comm[64];
      snprintf(comm, sizeof comm, "/proc/%u/comm", list[i].pid);
      read_text(comm);
      sum += (double)list[i].bytes;
    }
  }
  Utilization use = {0, 0};
  nv_use(device, &use);
  nv_heat(device, 0, &value);
  nv_power(device, &value);
  nv_clock(device, 1, &value);
  return sum + value + use.gpu;
}

static double read_all(void) {
  unsigned devices = 0;
  double sum = read_kernel();
  if (nv_count(&devices) != 0) return sum;
  for (unsigned i = 0; i < devices && i < kMaxDevices; i++) sum += read_device(i);
  return sum;
}

static int compare(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static int loop(int count) {
  double *taken = malloc(sizeof(double) * (size_t)count), sum = 0;
  for (int i = 0; i < 500; i++) sum += read_all();
  for (int i = 0; i < count; i++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    sum += read_all();
    clock_gettime(CLOCK_MONOTONIC, &to);
    taken[i] = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
  }
  qsort(taken, (size_t)count, sizeof(double), compare);
  printf("%.0f %.0f %g\n", taken[count / 2], taken[count * 9 / 10], sum);
  free(taken);
  return 0;
}

static int once(void) {
  int devices = 0;
  if (cu_count(&devices) != 0) return 1;
  for (int i = 0; i < devices; i++) {
    void *context = NULL;
    int device = 0;
    size_t free_bytes = 0, total = 0;
    if (cu_get(&device, i) != 0 || cu_retain(&context, device) != 0 || cu_set(context) != 0) return 1;
    if (cu_info(&free_bytes, &total) != 0) return 1;
    printf("%zu %zu\n", free_bytes, total);
  }
  printf("%g\n", read_all());
  return 0;
}

int main(int argc, char **argv) {
  open_libraries();
  if (argc > 1 && strcmp(argv[1], "once") == 0) return once();
  return loop(argc > 2 ? atoi(argv[2]) : 5000);
}
