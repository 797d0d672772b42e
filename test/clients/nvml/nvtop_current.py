"""
The calls with which nvtop 3.3.2 reads memory, in its order. Debian has no nvtop after 3.2.0.

It asks for version 2 with a bare 2 as the version, which NVML refuses, then for version 1; where that is not supported,
the device shares the host's memory, and nvtop takes MemTotal of /proc/meminfo.
"""
import ctypes
import json

NOT_SUPPORTED = 3
nvml = ctypes.CDLL("libnvidia-ml.so")


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [
        (name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")
    ]


def host_total():
    with open("/proc/meminfo") as meminfo:
        return next(int(line.split()[1]) * 1024 for line in meminfo if line.startswith("MemTotal:"))


device = ctypes.c_void_p()
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
second = MemoryV2(version=2)
first = Memory()
statuses = [
    nvml.nvmlDeviceGetMemoryInfo_v2(device, ctypes.byref(second)),
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(first)),
]
total = host_total() if statuses[1] == NOT_SUPPORTED else first.total
print(json.dumps({"statuses": statuses, "total": total, "used": first.used}))
