#pragma once

#include <string>
#include <vector>

/// Programs that do not leave it to the loader to find MPI's functions.
///
/// The loader takes the tracer's MPI_Send for a reference to MPI_Send, as the tracer is in front of
/// the MPI library. It does not where
///
///  * a program asks for the function itself, by dlsym() on the handle of the MPI library (Python's
///    ctypes, numba-mpi, Julia), or a wrapper library asks for the next one behind itself
///    (dlsym(RTLD_NEXT, "PMPI_Send"), as Darshan does),
///  * a library is loaded with RTLD_DEEPBIND: then it and the libraries it needs come first.
///
/// So the tracer stands in front of dlsym() and dlopen() as well. Both depend on who calls them, so
/// ours jump to the real ones, which see the program as the caller. dlsym() answers with the
/// tracer's PMPI function where the real one would with a function of the MPI library. After a
/// dlopen() with RTLD_DEEPBIND, references of the new libraries to functions of the MPI library
/// are led to the tracer at the next dlsym(), without which nobody gets into such a library.
namespace rubato {
inline namespace tracing {

/// dlsym of the C library, as called by the tracer.
void* real_dlsym(void* handle, const char* name);

/// Libraries whose references lead into the MPI library past the tracer, sorted: what they call by
/// these is not seen. For the end of the run: takes some milliseconds.
std::vector<std::string> unwatched_libraries();

/// This process has asked for functions of MPI by dlsym(); it has libraries that were loaded with
/// RTLD_DEEPBIND and call MPI.
bool functions_looked_up();
bool libraries_bound_deeply();

}  // namespace tracing
}  // namespace rubato
