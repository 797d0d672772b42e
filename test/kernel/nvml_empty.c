// An NVML with one device and no process, as a container sees it.
#include <stddef.h>

int nvmlInit_v2(void) { return 0; }
int nvmlInitWithFlags(unsigned int flags) {
  (void)flags;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned int *count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
  *device = &nvmlInit_v2;
  return index == 0 ? 0 : 2;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count, void *infos) {
  (void)device;
  (void)infos;
  *count = 0;
  return 0;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *count, void *infos) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}
