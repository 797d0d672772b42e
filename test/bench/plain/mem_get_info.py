"""The calls of a Python user, in nanoseconds per call: torch.cuda.mem_get_info and nvidia-ml-py."""
import sys
import time


BATCH = 50  # as in measure.mjs


def p50(call, count):
    taken = []
    for _ in range(count // BATCH):
        start = time.perf_counter_ns()
        for _ in range(BATCH):
            call()
        taken.append((time.perf_counter_ns() - start) // BATCH)
    return sorted(taken)[len(taken) // 2]


count = int(sys.argv[1])
for name in ("torch", "nvidia-ml-py"):
    try:
        if name == "torch":
            import torch

            torch.cuda.mem_get_info()
            print(name, p50(torch.cuda.mem_get_info, count))
        else:
            import pynvml

            pynvml.nvmlInit()
            device = pynvml.nvmlDeviceGetHandleByIndex(0)
            print(name, p50(lambda: pynvml.nvmlDeviceGetMemoryInfo(device), count))
    except Exception as error:  # a peer that is not installed is a line of its own, not a failure
        print(name, "absent:", type(error).__name__)
