"""The challenge of the lab: tensors of 5 GB until one is refused. Prints the bytes held and the milliseconds it took."""
import time

import torch

torch.zeros(1, device="cuda")
torch.cuda.synchronize()
start = time.perf_counter()
held = []
try:
    while True:
        held.append(torch.empty(5_000_000_000, dtype=torch.uint8, device="cuda"))
        torch.cuda.synchronize()
except torch.cuda.OutOfMemoryError:
    pass
print(len(held) * 5_000_000_000, (time.perf_counter() - start) * 1000)
