#include "sim/gpu/device_identity.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace umasim {

void compute_capability(const Device& device, int* major, int* minor) {
  *major = std::atoi(device.compute_capability);
  const std::string text = device.compute_capability;
  const size_t point = text.find('.');
  *minor = point == std::string::npos ? 0 : std::atoi(text.c_str() + point + 1);
}

PciAddress pci_address(const Device& device) {
  PciAddress address{0, 0, 0};
  std::sscanf(device.pci_bus_id, "%x:%x:%x", &address.domain, &address.bus, &address.device);
  return address;
}

void uuid_bytes(const Device& device, unsigned char out[16]) {
  int count = 0;
  for (const char* at = device.uuid + 4; count < 32 && *at != '\0'; at++) {
    if (*at == '-') continue;
    const int digit = *at <= '9' ? *at - '0' : *at - 'a' + 10;
    unsigned char& byte = out[count / 2];
    byte = static_cast<unsigned char>(count % 2 == 0 ? digit << 4 : byte | digit);
    count++;
  }
}

}  // namespace umasim
