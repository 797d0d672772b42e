// The readings of a GPU as texts, for the table, the log of -q and the fields of --query-gpu.
#pragma once
#include <string>

#include "sim/nvidia_smi/gpu.h"

namespace umasim::smi {

// The text of a reading without its unit, or the status of its refusal.
struct Reading {
  int status;
  std::string text;
};

// The text with its unit, or what nvidia-smi writes for a refusal: N/A, or NVML's text.
std::string shown(const Reading& reading, const char* unit = "");

inline Reading refused(int status) { return {status, ""}; }

Reading name(const Gpu& gpu);
Reading serial(const Gpu& gpu);
Reading vbios(const Gpu& gpu);
Reading minor_number(const Gpu& gpu);
Reading brand(const Gpu& gpu);
Reading architecture(const Gpu& gpu);
Reading compute_capability(const Gpu& gpu);
Reading addressing_mode(const Gpu& gpu);

Reading persistence_mode(const Gpu& gpu);
Reading compute_mode(const Gpu& gpu);
Reading display_mode(const Gpu& gpu);
Reading display_active(const Gpu& gpu);
Reading power_management(const Gpu& gpu);
Reading ecc_mode(const Gpu& gpu);
Reading mig_mode(const Gpu& gpu);
Reading ecc_errors(const Gpu& gpu);

Reading pcie_generation(const Gpu& gpu);
Reading max_pcie_generation(const Gpu& gpu);
Reading gpu_max_pcie_generation(const Gpu& gpu);
Reading pcie_width(const Gpu& gpu);
Reading max_pcie_width(const Gpu& gpu);

// MiB.
Reading memory_total(const Gpu& gpu);
Reading memory_reserved(const Gpu& gpu);
Reading memory_used(const Gpu& gpu);
Reading memory_free(const Gpu& gpu);
Reading bar1_total(const Gpu& gpu);
Reading bar1_used(const Gpu& gpu);
Reading bar1_free(const Gpu& gpu);

// Percent.
Reading fan(const Gpu& gpu);
Reading gpu_utilization(const Gpu& gpu);
Reading memory_utilization(const Gpu& gpu);
Reading encoder_utilization(const Gpu& gpu);
Reading decoder_utilization(const Gpu& gpu);

// Degrees Celsius.
Reading temperature(const Gpu& gpu);
Reading shutdown_temperature(const Gpu& gpu);
Reading slowdown_temperature(const Gpu& gpu);
Reading max_temperature(const Gpu& gpu);

// Watt.
Reading power_draw(const Gpu& gpu);
Reading power_limit(const Gpu& gpu);
Reading enforced_power_limit(const Gpu& gpu);
Reading default_power_limit(const Gpu& gpu);
Reading min_power_limit(const Gpu& gpu);
Reading max_power_limit(const Gpu& gpu);

// MHz.
Reading graphics_clock(const Gpu& gpu);
Reading sm_clock(const Gpu& gpu);
Reading memory_clock(const Gpu& gpu);
Reading max_graphics_clock(const Gpu& gpu);
Reading max_sm_clock(const Gpu& gpu);
Reading max_memory_clock(const Gpu& gpu);

Reading performance_state(const Gpu& gpu);  // P0 to P15
Reading clock_reasons(const Gpu& gpu);      // a mask of 16 hexadecimal digits
// Active or Not Active.
Reading is_idle(const Gpu& gpu);
Reading is_not_slowed(const Gpu& gpu);

}  // namespace umasim::smi
