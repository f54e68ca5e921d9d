#pragma once

#include <string>

namespace rubato {

/// The MPI libraries that Rubato has tracers and calibrators for. Handles and structures differ
/// between them, so a process needs the one that was built for its library.
enum class Flavour { kUnknown, kOpenMpi, kMpich };

/// "openmpi" or "mpich", as in the names of the tracers and calibrators.
std::string flavour_name(Flavour flavour);
/// "Open MPI" or "MPICH", for messages.
std::string flavour_title(Flavour flavour);

/// The MPI library whose mpirun started this process, by its environment variables; unknown outside
/// of mpirun and for launchers that serve both.
Flavour launcher_flavour();

/// The same, and for Slurm's PMI, which serves both, the library that mostly speaks it: PMIx Open
/// MPI, PMI-2 MPICH and its relatives.
Flavour likely_launcher_flavour();

/// Where srun started several tasks without PMI (`--mpi=none`), so that each would be an MPI job of
/// its own: the srun that joins them, for an MPI library or, where that is unknown, for both; else
/// "".
std::string srun_that_joins(Flavour flavour);

/// Which MPI library a program is linked to, directly or through its libraries; unknown for
/// scripts, static programs and programs that load MPI later.
Flavour program_flavour(const std::string& program);

/// Combines both. Throws InputError if launcher and program belong to different MPI libraries:
/// every process would then be a job of its own. Without any hint, the installed flavour.
Flavour choose_flavour(const std::string& program);

/// The file to execute for `program`: itself if it has a slash, else looked up in PATH as execvp
/// does. Throws InputError when there is none or it cannot be executed.
std::string find_program(const std::string& program);

}  // namespace rubato
