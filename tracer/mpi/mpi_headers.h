#pragma once

/// MPI's C interface with its extensions, for the tracer and (preprocessed) for gen_wrappers.py.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

// Open MPI 4 has the persistent collectives of MPI 4 there.
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
