// Marks an exported function.
#pragma once

// test/clients/abi_sim.cc defines its own, to compare the functions with NVIDIA's headers.
#ifndef UMASIM_API
#define UMASIM_API extern "C" __attribute__((visibility("default")))
#endif
