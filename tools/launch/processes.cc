#include "tools/launch/processes.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tools/cli/install_paths.h"
#include "tools/launch/flavour.h"
#include "tracer/base/launcher.h"

namespace rubato {
namespace {

/// The number of processes started by mpirun or srun; 1 without one, or if unknown.
int launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size);
  }
  return 1;
}

/// True if mpirun, srun or their daemon on this host is the parent of this process. Below a script
/// it is unknown whether every process gets here exactly once, as MPI_Init requires.
bool started_by_launcher() {
  std::ifstream file("/proc/" + std::to_string(getppid()) + "/comm");
  std::string name;
  std::getline(file, name);
  const auto begins = [&](const char* word) { return name.starts_with(word); };
  return begins("mpirun") || begins("mpiexec") || begins("orte") || begins("prte") ||
         begins("hydra_") || begins("slurmstepd");
}

std::unique_ptr<Transport> mpi_transport(Flavour flavour, std::string& error) {
  const std::string file = library_dir() + "/librubato-mpi-" + flavour_name(flavour) + ".so";
  // RTLD_GLOBAL: Open MPI loads components that look up its symbols globally.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* make = library ? dlsym(library, "rubato_mpi_transport") : nullptr;
  if (!make) {
    error = dlerror();
    return nullptr;
  }
  return std::unique_ptr<Transport>(reinterpret_cast<Transport* (*)()>(make)());
}

/// True if all processes have the same arguments.
bool all_have(Team& team, const std::vector<std::string>& words) {
  ByteWriter mine;
  for (const std::string& word : words) mine.text(word);
  const Bytes own = mine.take();
  const std::vector<Bytes> all = team.gather(own);
  return team.all(
      std::all_of(all.begin(), all.end(), [&](const Bytes& other) { return other == own; }));
}

}  // namespace

Processes::Processes(const std::vector<std::string>& words) {
  const Flavour flavour = likely_launcher_flavour();
  // (Read now: MPI_Init of a job of one process may change these variables.)
  const int launched = launched_processes();
  const bool is_first = launcher_rank() == 0;
  if (flavour == Flavour::kUnknown || launched <= 1 || !started_by_launcher()) return;
  several_ = true;
  std::string error;
  transport_ = mpi_transport(flavour, error);
  if (transport_ && transport_->processes() < launched) {
    // Each task is a job of its own for this MPI library: for example, it lacks the PMI of srun.
    leads_ = is_first;
    if (leads_) {
      fmt::print(stderr,
                 "rubato: one process replays everything: {} connects only {} of the {} started "
                 "processes\n",
                 flavour_title(flavour), transport_->processes(), launched);
    }
    transport_->close();
    transport_.reset();
    return;
  }
  if (transport_) {
    team_.emplace(*transport_);
    if (all_have(*team_, words)) {
      leads_ = team_->leads();
    } else {
      end();
      several_ = false;
    }
    return;
  }
  leads_ = is_first;
  if (leads_) {
    fmt::print(stderr,
               "rubato: one process replays everything: the library for {} cannot be loaded ({})\n",
               flavour_title(flavour), error);
  }
}

Processes::~Processes() {
  if (!team_) return;
  try {
    begin(false);
  } catch (const std::exception&) {
    // The launcher ends the other processes.
  }
}

bool Processes::begin(bool fine) {
  if (!team_) return false;
  if (team_->all(fine)) return true;
  end();
  return false;
}

void Processes::end() {
  if (!team_) return;
  team_->close();
  team_.reset();
}

namespace {

const char* reason(OneProcess why) {
  switch (why) {
    case OneProcess::kEveryCall:
      return "a requested output needs every call";
    case OneProcess::kTimeOrder:
      return "contention and matching by arrival need a global order of time";
    case OneProcess::kOtherJobs:
      return "other jobs share the network (--with)";
    case OneProcess::kWindows:
      return "the program uses one-sided communication";
    case OneProcess::kRepair:
      return "the clocks are not synchronised: some calls end before their cause";
    case OneProcess::kLosses:
      return "a scenario removes time for which ranks were descheduled while others waited for "
             "them";
    case OneProcess::kOutcomes:
      return "a scenario contradicts recorded outcomes of MPI_Test or MPI_Waitany";
    case OneProcess::kHoles:
      return "a rank waits for an operation that another process could not match";
    case OneProcess::kDiffers:
      return "a record differs from the recording";
    case OneProcess::kTwoArchives:
      return "hosts see different archives under this name";
    case OneProcess::kFailed:
      return "a process failed";
  }
  return "";
}

}  // namespace

std::string one_process_line(OneProcess why) {
  return fmt::format("one process replays everything: {}", reason(why));
}

std::string spread_line(OneProcess why) {
  return fmt::format("each process replays some of the scenarios with all ranks: {}", reason(why));
}

}  // namespace rubato
