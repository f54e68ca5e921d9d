// The socket to which a process is bound, from the kernel's files.
#include "tracer/base/processors.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/unit/directory.h"

using rubato::socket_of_cores;
namespace fs = std::filesystem;

namespace {

/// Cores as /sys/devices/system/cpu has them.
class Cores : public rubato::TemporaryDirectory {
 public:
  explicit Cores(const std::vector<int>& socket_of_core) {
    for (size_t core = 0; core < socket_of_core.size(); ++core) {
      const fs::path topology = fs::path(path()) / ("cpu" + std::to_string(core)) / "topology";
      fs::create_directories(topology);
      std::ofstream(topology / "physical_package_id") << socket_of_core[core] << "\n";
    }
  }
};

}  // namespace

TEST_CASE("cores of one socket give that socket, cores of several give none") {
  // Two sockets, their cores numbered in turn, as on many machines; core 4 does not know its own.
  const Cores cores({0, 1, 0, 1, -1});
  CHECK(socket_of_cores("0", cores.path()) == 0);
  CHECK(socket_of_cores("1,3", cores.path()) == 1);
  CHECK(socket_of_cores("0-1", cores.path()) == -1);
  CHECK(socket_of_cores("0,2-3", cores.path()) == -1);
  CHECK(socket_of_cores("4", cores.path()) == -1);
  CHECK(socket_of_cores("0,4", cores.path()) == -1);
  CHECK(socket_of_cores("7", cores.path()) == -1);  // there is none
  CHECK(socket_of_cores("", cores.path()) == -1);
  CHECK(socket_of_cores("none", cores.path()) == -1);
}
