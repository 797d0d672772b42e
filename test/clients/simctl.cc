// Boots a simulated machine and looks at it, without Node: for the simulator's own tests.
//   simctl boot DESCRIPTION STATE    (a flat description, see umasim.h)
//   simctl read PATH | write PATH TEXT | list PATH       (the machine of UMAPROBE_SIM)
//   simctl record STATE
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "abi/umasim.h"

namespace {

int print(long length, const std::string& text) {
  if (length < 0) {
    std::fprintf(stderr, "simctl: %s\n", std::strerror(static_cast<int>(-length)));
    return 1;
  }
  std::fwrite(text.data(), 1, static_cast<size_t>(length), stdout);
  return 0;
}

int boot(const char* description, const char* state) {
  std::ifstream file(description);
  std::stringstream text;
  text << file.rdbuf();
  char error[512] = "";
  const int status = umasim_boot(text.str().c_str(), state, error, sizeof error);
  if (status == 0) return 0;
  std::fprintf(stderr, "simctl: %s (%s)\n", error, std::strerror(-status));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  std::string buffer(1 << 20, '\0');
  if (command == "boot" && argc == 4) return boot(argv[2], argv[3]);
  if (command == "read" && argc == 3) {
    return print(umasim_read(argv[2], &buffer[0], buffer.size()), buffer);
  }
  if (command == "list" && argc == 3) {
    return print(umasim_list(argv[2], &buffer[0], buffer.size()), buffer);
  }
  if (command == "record" && argc == 3) {
    return print(umasim_record(argv[2], &buffer[0], buffer.size()), buffer);
  }
  if (command == "write" && argc == 4) {
    const long status = umasim_write(argv[2], argv[3], std::strlen(argv[3]));
    return status < 0 ? print(status, buffer) : 0;
  }
  std::fprintf(stderr,
               "usage: simctl boot DESCRIPTION STATE | read PATH | write PATH TEXT | list "
               "PATH | record STATE\n");
  return 2;
}
