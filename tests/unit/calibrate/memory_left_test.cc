// The bounds of share/doc/calibrating.md, "Memory": what is left of a made-up system.
#include "calibrate/program/memory_left.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace rubato;
namespace fs = std::filesystem;

namespace {

constexpr unsigned long long kMiB = 1 << 20;

/// A folder with the files of /proc and /sys that a test says.
class MadeSystem {
 public:
  MadeSystem() : root_(fs::temp_directory_path() / ("rubato-system-" + std::to_string(getpid()))) {}
  ~MadeSystem() { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
    std::ofstream(root_.string() + path) << text;
  }
  void write(const std::string& path, unsigned long long number) const {
    write(path, std::to_string(number) + "\n");
  }
  unsigned long long left() const { return memory_left(root_.string()); }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("what a system without control groups has left") {
  const MadeSystem system;
  CHECK(system.left() == std::numeric_limits<unsigned long long>::max());
  system.write("/proc/meminfo",
               "MemTotal:       24000000 kB\nMemFree:  500000 kB\nMemAvailable:    2000000 kB\n");
  CHECK(system.left() == 2000000ull * 1024);
}

TEST_CASE("the memory left in a control group and its parents") {
  const MadeSystem system;
  system.write("/proc/meminfo", "MemAvailable: 2097152 kB\n");  // 2048 MiB
  system.write("/proc/self/cgroup", "0::/job/step\n");
  const std::string mount = "/sys/fs/cgroup";
  system.write(mount + "/job/step/memory.max", "max\n");
  CHECK(system.left() == 2048 * kMiB);
  // Of the job's 1024 MiB, 600 are used, including 100 + 50 of page cache: 1024 - 450.
  system.write(mount + "/job/memory.max", 1024 * kMiB);
  system.write(mount + "/job/memory.current", 600 * kMiB);
  system.write(mount + "/job/memory.stat",
               "anon 471859200\ninactive_file 104857600\nactive_file 52428800\n");
  CHECK(system.left() == 574 * kMiB);
  // The step has less, and then the mount itself, which is all that a container may see.
  system.write(mount + "/job/step/memory.max", 400 * kMiB);
  system.write(mount + "/job/step/memory.current", 100 * kMiB);
  CHECK(system.left() == 300 * kMiB);
  system.write(mount + "/memory.max", 200 * kMiB);
  CHECK(system.left() == 200 * kMiB);
  // More used than allowed, as after a limit was lowered.
  system.write(mount + "/memory.current", 201 * kMiB);
  CHECK(system.left() == 0);
}

TEST_CASE("what a control group of version 1 has left") {
  const MadeSystem system;
  system.write("/proc/meminfo", "MemAvailable: 2097152 kB\n");
  system.write("/proc/self/cgroup",
               "9:cpu,cpuacct:/other\n4:hugetlb,memory:/slurm/job\n0::/init.scope\n");
  const std::string mount = "/sys/fs/cgroup/memory";
  system.write(mount + "/memory.limit_in_bytes", 9223372036854771712ull);  // no limit
  system.write(mount + "/other/memory.limit_in_bytes", 1);
  CHECK(system.left() == 2048 * kMiB);
  system.write(mount + "/slurm/memory.limit_in_bytes", 500 * kMiB);
  system.write(mount + "/slurm/memory.usage_in_bytes", 300 * kMiB);
  system.write(mount + "/slurm/memory.stat",
               "inactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 0\n");
  CHECK(system.left() == 300 * kMiB);  // 500 - (300 - 100)
}
