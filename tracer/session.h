#pragma once

#include <cstdint>
#include <string>

#include "tracer/pmpi.h"

/// From MPI_Init to MPI_Finalize: what happens once per process.
namespace rubato {

/// The time MPI_Init was entered, on both clocks: the ranks agree on one of them only afterwards.
struct InitStamp {
  uint64_t tsc;
  uint64_t monotonic;
  const void* call_site;  ///< where the program calls it
};
InitStamp before_init(const void* call_site);

/// MPI is up: choose the clock, measure what recording costs, start to record. Collective.
void start_session(CallId init, const InitStamp& stamp);

/// The program is about to finalise MPI: write the archive. Collective.
void finish_session(CallId finalize, const void* call_site);

/// The program is about to die by MPI_Abort.
void abort_session();

/// A line for the user of a program that did not reach MPI_Finalize.
std::string how_to_recover(const std::string& what);

/// This process called MPI_Init, and records.
bool session_started();
/// It also reached MPI_Finalize.
bool session_finished();

}  // namespace rubato
