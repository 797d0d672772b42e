// The program nvidia-smi of the simulated machine: all of it is in libumasim.so, with the NVML that
// it asks, so that it never shows a real GPU.
#include "abi/umasim.h"

int main(int count, char** values) { return umasim_nvidia_smi(count, values); }
