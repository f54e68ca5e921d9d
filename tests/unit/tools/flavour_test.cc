// Which MPI library a launcher belongs to, by the variables it sets.

#include "tools/launch/flavour.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rubato;

namespace {

/// An environment with these variables of launchers alone; that of the test comes back afterwards.
class Launched {
 public:
  explicit Launched(const std::vector<std::string>& names, const char* tasks = nullptr) {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMI_FD", "PMI_PORT", "MPI_LOCALRANKID", "PMIX_RANK",
          "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
    for (const std::string& name : names) setenv(name.c_str(), "0", 1);
    if (tasks) setenv("SLURM_STEP_NUM_TASKS", tasks, 1);
  }
  ~Launched() {
    for (const auto& [name, value] : before_) {
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    }
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace

TEST_CASE(
    "a launcher is recognised by its variables, Slurm's PMI by the library that mostly uses "
    "it") {
  const auto likely = [](const std::vector<std::string>& names) {
    const Launched launched(names);
    return likely_launcher_flavour();
  };
  CHECK(likely({}) == Flavour::kUnknown);
  CHECK(likely({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}) == Flavour::kOpenMpi);
  CHECK(likely({"PMI_RANK", "PMI_FD"}) == Flavour::kMpich);
  CHECK(likely({"SLURM_PROCID"}) == Flavour::kUnknown);
  CHECK(likely({"SLURM_PROCID", "PMIX_RANK"}) == Flavour::kOpenMpi);
  CHECK(likely({"SLURM_PROCID", "PMI_RANK", "PMI_FD"}) == Flavour::kMpich);
  // An Open MPI program may run under both, so the launcher does not determine it.
  const Launched launched({"SLURM_PROCID", "PMI_RANK", "PMI_FD"});
  CHECK(launcher_flavour() == Flavour::kUnknown);
}

TEST_CASE("tasks of srun that cannot find each other get the option that joins them") {
  const auto join = [](const std::vector<std::string>& names, const char* tasks, Flavour flavour) {
    const Launched launched(names, tasks);
    return srun_that_joins(flavour);
  };
  CHECK(join({"SLURM_PROCID"}, "2", Flavour::kMpich) == "srun --mpi=pmi2");
  CHECK(join({"SLURM_PROCID"}, "2", Flavour::kOpenMpi) == "srun --mpi=pmix");
  CHECK(join({"SLURM_PROCID"}, "2", Flavour::kUnknown) ==
        "srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)");
  CHECK(join({"SLURM_PROCID"}, "1", Flavour::kMpich).empty());
  CHECK(join({"SLURM_PROCID"}, nullptr, Flavour::kMpich).empty());  // a batch script
  CHECK(join({"SLURM_PROCID", "PMI_RANK"}, "2", Flavour::kMpich).empty());
  CHECK(join({"SLURM_PROCID", "PMIX_RANK"}, "2", Flavour::kOpenMpi).empty());
  CHECK(join({"OMPI_COMM_WORLD_RANK"}, "2", Flavour::kOpenMpi).empty());  // mpirun below srun
}
