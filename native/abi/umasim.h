// The exports of libumasim.so besides the CUDA runtime, CUDA driver and NVML functions: the
// simulated Linux side, and functions that boot and attach a machine. The state of a machine is in
// a file that every process on the machine maps shared. The environment variable UMAPROBE_SIM names
// that file, or umasim_attach() does.
#pragma once
#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
// Creates the state file (O_EXCL, O_NOFOLLOW, 0600) of a machine from its flat description: one
// "path value" line per leaf of the machine's JSON, as in "memory.total 128513503232" or
// "devices.0.name NVIDIA GB10". Returns 0, or -errno with a message in `error`.
int umasim_boot(const char* description, const char* state_path, char* error, size_t error_size);

// Attaches this process to the machine in `state_path` for its life; UMAPROBE_SIM is ignored from
// then on. It is for callers whose threads have separate environments. Returns 0, -EBUSY if the
// process is attached to another machine, or -errno if the file is unusable.
int umasim_attach(const char* state_path);

// Reads and writes files of this process's machine: the attached one, otherwise the one that
// UMAPROBE_SIM names. Returns the number of bytes, or -errno. -ENXIO: no simulated machine. A read
// that returns `size` may have been cut off.
long umasim_read(const char* path, char* buffer, size_t size);
long umasim_write(const char* path, const char* data, size_t size);
// sync(2): writes all dirty pages, which takes simulated time. Returns 0 or -errno. Never returns
// on a wedged machine.
long umasim_sync(void);
// clock.scale in thousandths, or -errno: the simulated seconds per thousand real ones. Multiply
// measured durations by the scale to get simulated time.
long umasim_scale_milli(void);
// Anonymous memory of the machine for this process, as from mmap(2). Pages appear when the GPU
// touches them, on devices that reach pageable memory, and stay until umasim_unmap of the whole
// range or the exit of the process. Returns null with errno set on failure. The address is real and
// writable, but the simulator does not see the program's own writes as touches: umasim_touch() says
// that the processor wrote to a range, which then has pages as well, at once. It waits while the
// machine has no memory, as a page fault does, and never returns once it is wedged. Returns 0 or
// -errno: EINVAL outside of such memory, ENOMEM on a machine without memory that does not wedge.
void* umasim_map(size_t bytes);
int umasim_touch(void* address, size_t bytes);
void umasim_unmap(void* address, size_t bytes);
// Lists the names in a simulated directory, each followed by a newline.
long umasim_list(const char* path, char* buffer, size_t size);

// Name of the machine, or null if UMAPROBE_SIM is not set or its file is unusable. Reads the
// environment each time, so that an unattached process can move to another machine between calls.
const char* umasim_machine(void);
// Bytes per base page of the machine, or -errno.
long umasim_page_size(void);

// Tells whether the machine has the library ("cudart", "cuda", "nvml") or the function. Returns 1,
// 0 or -errno.
int umasim_has_library(const char* library);
int umasim_has_symbol(const char* name);

// The program nvidia-smi on this process's machine. Returns its exit code.
int umasim_nvidia_smi(int count, char** values);

// Writes a JSON record of the machine in `state_path`: {"machine", "bootId", "simulatedMs",
// "wedged": null|{"atMs","pid","during","bytes"}, "peak", "live": [{"pid","kind","bytes"}],
// "violations",
// ...}; see docs/simulated-machine.md. Returns as umasim_read.
long umasim_record(const char* state_path, char* buffer, size_t size);
}
#pragma GCC visibility pop
