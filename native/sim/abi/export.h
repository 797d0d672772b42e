// Marks an exported function.
#pragma once

// test/clients/abi_sim.cc defines its own, to compare the functions with NVIDIA's headers.
#ifndef UMASIM_API
#define UMASIM_API extern "C" __attribute__((visibility("default")))
#endif

// The same function under the name by which programs call it that were built with a default stream
// for each thread. All streams share one queue here.
#define UMASIM_OTHER_STREAM(function, suffix) \
  UMASIM_API decltype(function) function##_##suffix __attribute__((alias(#function)))
