#pragma once

#include <string>

namespace rubato {

/// The MPI libraries with tracers and calibrators. Handles and structures differ between them, so a
/// process needs those built for its library.
enum class Flavour { kUnknown, kOpenMpi, kMpich };

/// "openmpi" or "mpich", as in the names of the tracers and calibrators.
std::string flavour_name(Flavour flavour);
/// "Open MPI" or "MPICH", for messages.
std::string flavour_title(Flavour flavour);

/// The MPI library whose mpirun started this process, from its environment variables; unknown
/// outside of mpirun and for launchers that support both.
Flavour launcher_flavour();

/// The same; for Slurm's PMI, which supports both, the library that mostly uses it: Open MPI for
/// PMIx, MPICH and its derivatives for PMI-2.
Flavour likely_launcher_flavour();

/// If srun started several tasks without PMI (`--mpi=none`), so that each would be an MPI job of
/// its own: the srun command that joins them, for `flavour` or, if that is unknown, for both; else
/// "".
std::string srun_that_joins(Flavour flavour);

/// The MPI library to which a program is linked, directly or through its libraries; unknown for
/// scripts, static programs and programs that load MPI later.
Flavour program_flavour(const std::string& program);

/// Combines both; without either, the installed flavour. Errors: InputError if launcher and program
/// belong to different MPI libraries: each process would be a job of its own.
Flavour choose_flavour(const std::string& program);

/// The file to execute for `program`: itself if it has a slash, else looked up in PATH as execvp
/// does. Throws InputError when there is none or it cannot be executed.
std::string find_program(const std::string& program);

}  // namespace rubato
