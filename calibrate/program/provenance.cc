#include "calibrate/program/provenance.h"

#include <mpi.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "calibrate/clock/core_states.h"
#include "models/base/number_text.h"

extern char** environ;

namespace rubato {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Name and version; further lines are of the build (MPICH: device, configure, compilers).
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string lines(text.data());
  lines.erase(lines.find_last_not_of(" \n") + 1);
  std::replace(lines.begin(), lines.end(), '\t', ' ');
  return lines;
}

/// The version of the standard that the library follows: "3.1".
std::string mpi_standard() {
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  return std::to_string(version) + "." + std::to_string(subversion);
}

std::string compiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#else
  return std::string("gcc ") + __VERSION__;
#endif
}

std::string kernel() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

/// The load of this machine in the last minute.
std::string load_average() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return {};
  return fixed_text(load, 2);
}

/// "3" or "3-7".
std::string range_of(size_t first, size_t last) {
  return std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
}

/// "model name : X" -> "X" from the first processor; "" if unknown.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

/// Settings that make one MPI library behave like another, such as OMPI_MCA_btl=tcp,self.
std::string mpi_settings() {
  constexpr std::array kPrefixes = {"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "MPICH_",
                                    "UCX_",      "FI_",       "I_MPI_",    "MV2_",       "MVP_",
                                    "PSM2_",     "PSM3_",     "HCOLL_"};
  // Variables that Open MPI's launcher sets for its own bookkeeping in every run.
  constexpr std::array kBookkeeping = {"OMPI_MCA_ess",
                                       "OMPI_MCA_ess_base_jobid",
                                       "OMPI_MCA_ess_base_num_procs",
                                       "OMPI_MCA_ess_base_vpid",
                                       "OMPI_MCA_initial_wdir",
                                       "OMPI_MCA_mpi_oversubscribe",
                                       "OMPI_MCA_orte_app_num",
                                       "OMPI_MCA_orte_bound_at_launch",
                                       "OMPI_MCA_orte_ess_node_rank",
                                       "OMPI_MCA_orte_ess_num_procs",
                                       "OMPI_MCA_orte_hnp_uri",
                                       "OMPI_MCA_orte_jobfam_session_dir",
                                       "OMPI_MCA_orte_launch",
                                       "OMPI_MCA_orte_local_daemon_uri",
                                       "OMPI_MCA_orte_node_regex",
                                       "OMPI_MCA_orte_num_nodes",
                                       "OMPI_MCA_orte_parent_uri",
                                       "OMPI_MCA_orte_precondition_transports",
                                       "OMPI_MCA_orte_tmpdir_base",
                                       "OMPI_MCA_orte_top_session_dir",
                                       "OMPI_MCA_pmix",
                                       "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                       "PMIX_MCA_mca_base_component_show_load_errors"};
  std::vector<std::string> found;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const auto starts = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
    if (std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) &&
        std::find(kBookkeeping.begin(), kBookkeeping.end(), name) == kBookkeeping.end()) {
      found.push_back(text);
    }
  }
  std::sort(found.begin(), found.end());
  std::string all;
  for (const std::string& text : found) all += (all.empty() ? "" : " ") + text;
  return all;
}

}  // namespace

Provenance local_factors() {
  const std::string library = mpi_library();
  const size_t name = std::min(library.find('\n'), library.size());
  Provenance factors = {
      {"date", utc_now()}, {"mpi", library.substr(0, name)}, {"compiler", compiler()}};
  const auto add = [&](const char* key, const std::string& value) {
    const size_t first = value.find_first_not_of(' ');
    if (first == std::string::npos) return;
    factors[key] = value.substr(first, value.find_last_not_of(' ') + 1 - first);
  };
  add("compiler_flags", RUBATO_COMPILER_FLAGS);
  add("mpi_standard", mpi_standard());
  std::string build = library.substr(name);
  std::replace(build.begin(), build.end(), '\n', ' ');
  add("mpi_build", build);
  add("kernel", kernel());
  add("cpu", processor());
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  add("cores", std::to_string(cores));
  add("load_average_at_start", load_average());
  constexpr const char* kSystem = "/sys/devices/system/cpu";
  add("governor", governors(kSystem, static_cast<int>(cores)));
  add("frequency", frequencies(kSystem, "/proc/cpuinfo", static_cast<int>(cores)));
  add("mpi_settings", mpi_settings());
  return factors;
}

std::string own_processors() {
  // Large enough for 8192 processors: the kernel refuses a mask that is too small.
  constexpr size_t kMost = 8192;
  cpu_set_t* mask = CPU_ALLOC(kMost);
  if (!mask) return {};
  const size_t size = CPU_ALLOC_SIZE(kMost);
  CPU_ZERO_S(size, mask);
  std::string text;
  if (sched_getaffinity(0, size, mask) == 0) {
    for (size_t i = 0; i < kMost; ++i) {
      if (!CPU_ISSET_S(i, size, mask)) continue;
      size_t last = i;
      while (last + 1 < kMost && CPU_ISSET_S(last + 1, size, mask)) ++last;
      text += (text.empty() ? "" : ",") + range_of(i, last);
      i = last;
    }
  }
  CPU_FREE(mask);
  return text;
}

std::string pinning(const std::vector<std::string>& processors) {
  std::string text;
  for (size_t first = 0, last = 0; first < processors.size(); first = last + 1) {
    for (last = first; last + 1 < processors.size() && processors[last + 1] == processors[first];)
      ++last;
    if (processors[first].empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string(last > first ? "ranks " : "rank ") +
            range_of(first, last) + ": " + processors[first];
  }
  return text;
}

std::string host_list(const std::vector<std::string>& host_of_rank) {
  std::vector<std::string> seen;
  std::string all;
  for (const std::string& host : host_of_rank) {
    if (std::find(seen.begin(), seen.end(), host) != seen.end()) continue;
    seen.push_back(host);
    all += (all.empty() ? "" : ", ") + host;
  }
  return all;
}

}  // namespace rubato
