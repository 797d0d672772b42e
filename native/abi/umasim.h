// What libumasim.so exports beside the CUDA runtime, CUDA driver and NVML functions: the simulated
// kernel and the life of a simulated machine. A machine lives in a state file, mapped shared by
// every process that is on it; the environment variable UMAPROBE_SIM names that file, or
// umasim_attach() does.
#pragma once
#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
// Creates the state file (O_EXCL, O_NOFOLLOW, 0600) of a machine from its flat description: one
// "path value" line per leaf of the machine's JSON, as in "memory.total 128513503232" or
// "devices.0.name NVIDIA GB10". 0, or -errno with a sentence in `error`.
int umasim_boot(const char* description, const char* state_path, char* error, size_t error_size);

// Puts this process on the machine in `state_path`, for its life: from then on UMAPROBE_SIM is not
// looked at. For a caller whose threads have environments of their own. 0, -EBUSY when the process
// is attached to another machine, or why that file is unusable.
int umasim_attach(const char* state_path);

// The kernel of the machine that this process is on: the one it was attached to, else the one that
// UMAPROBE_SIM names. Bytes written to `buffer` (never more than
// size; the file may be longer: then size is returned), or -errno. -ENXIO: not on a simulated
// machine.
long umasim_read(const char* path, char* buffer, size_t size);
long umasim_write(const char* path, const char* data, size_t size);
// sync(2): returns 0 when what was dirty is written, which takes simulated time; -errno. Never on a
// machine that is wedged.
long umasim_sync(void);
// Thousandths of clock.scale: how many simulated seconds pass in a thousand real ones; -errno. A
// duration that a program measured by its own clock was so many times as long on the machine.
long umasim_scale_milli(void);
// Memory of the machine for this process, as mmap gives it: nothing of it is there before it is
// touched, and the GPU may touch it where it reaches pageable memory: then it is anonymous memory
// of this process, until umasim_unmap of the whole or the end of the process. Null with errno. The
// address is real and may be written to; what the program itself writes there is not seen as a
// touch.
void* umasim_map(size_t bytes);
void umasim_unmap(void* address, size_t bytes);
// Names in a simulated directory, each followed by a newline.
long umasim_list(const char* path, char* buffer, size_t size);

// Name of the machine, or null when UMAPROBE_SIM is not set or its file is unusable. Looks at the
// environment again, so that a process that is not attached can move to another machine between
// calls.
const char* umasim_machine(void);
// Bytes of a base page of the machine's kernel, or -errno.
long umasim_page_size(void);

// Whether the machine has the library ("cudart", "cuda", "nvml") or the function: 1, 0, or -errno.
int umasim_has_library(const char* library);
int umasim_has_symbol(const char* name);

// JSON text about the machine in `state_path`: {"machine", "bootId", "simulatedMs", "wedged":
// null|{"atMs","pid","during","bytes"}, "peak", "live": [{"pid","kind","bytes"}], "violations",
// ...}; docs/simulated-machine.md lists it. Bytes as umasim_read.
long umasim_record(const char* state_path, char* buffer, size_t size);
}
#pragma GCC visibility pop
