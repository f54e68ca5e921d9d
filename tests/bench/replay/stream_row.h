#pragma once

/// Replays a program of so many ranks, generated on the fly (made_program.h), on one machine in the
/// processes started by mpirun, and prints the cost of each. Not one of the rows, which run in
/// separate processes. Returns the exit code.
int stream_row(int ranks);
