"""Trains a stack of layers on random tokens in bf16: <batch> <sequence> [layers]. Activations are 2 KiB · batch · sequence · 2 per layer."""

import sys

import torch

WIDTH = 1024
batch, sequence = int(sys.argv[1]), int(sys.argv[2])
layers = int(sys.argv[3]) if len(sys.argv) > 3 else 24
parts = []
for _ in range(layers):
    parts += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()]
model = torch.nn.Sequential(*parts).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    data = torch.randn(batch, sequence, WIDTH, device="cuda", dtype=torch.bfloat16)
    model(data).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    print(f"step {step} peak {torch.cuda.max_memory_reserved()}", flush=True)
