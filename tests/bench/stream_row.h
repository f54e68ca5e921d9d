#pragma once

/// Replays a program of so many ranks that is generated as it goes (made_program.h) on one machine,
/// in the processes that mpirun has started, and prints what it cost each of them. Not among the
/// rows: those are processes of their own. Returns the exit code.
int stream_row(int ranks);
