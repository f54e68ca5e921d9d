#pragma once

#include <string>

#include "replay/trace/trace.h"

// The replay of SimGrid (smpirun -replay) on the calls of an archive, to be measured beside ours.

/// How SimGrid moves messages.
enum class SimgridNetwork {
  kFree,    ///< no shared links (CM02, FATPIPE), as in a contention-free replay
  kShared,  ///< its default: the SMPI model, links shared by all that use them at a time
  kTree,    ///< CM02 on a fat tree tapered 2:1, as below_tree() describes it
};

/// Nodes below a switch, and switches, of the tree for so many ranks (an even power of two).
int below_tree(int ranks);

/// True when there is an smpirun.
bool simgrid_is_here();

/// Writes the calls of `source` into `directory` as time-independent traces, with the platform and
/// host files that SimGrid needs. Knows what made_archive.h makes: point-to-point calls,
/// MPI_Waitall of all that is open, MPI_Allreduce, MPI_Alltoall; ends the program at others.
void write_for_simgrid(rubato::EventSource& source, const std::string& directory);

/// Becomes SimGrid's replay of what write_for_simgrid() wrote; to be called in a process of its
/// own.
[[noreturn]] void become_simgrid(const std::string& directory, int ranks, SimgridNetwork network);
