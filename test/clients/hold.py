"""Holds as many bytes of the device as its argument says, until its standard input ends."""
import ctypes
import sys

runtime = ctypes.CDLL("libcudart.so.13")
pointer = ctypes.c_void_p()
status = runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(int(sys.argv[1])))
print("held" if status == 0 else f"cudaMalloc answered {status}", flush=True)
sys.stdin.read()
