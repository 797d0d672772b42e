"""Asks NVML who works, before and while the device fills 64 GiB; does not wait for the end."""
import ctypes
import json

import pynvml as nvml

BYTES = ctypes.c_size_t(1 << 36)
runtime = ctypes.CDLL("libcudart.so.13")
pointer = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), BYTES) == 0
nvml.nvmlInit()
device = nvml.nvmlDeviceGetHandleByIndex(0)


def look():
    try:
        samples = nvml.nvmlDeviceGetProcessUtilization(device, 0)
        shares = [sample.smUtil for sample in samples]
    except nvml.NVMLError as error:
        shares = str(error)
    return {
        "shares": shares,
        "gpu": nvml.nvmlDeviceGetUtilizationRates(device).gpu,
        "clockReasons": nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device),
    }


before = look()
assert runtime.cudaMemsetAsync(pointer, 1, BYTES, None) == 0
print(json.dumps({"before": before, "during": look()}))
