#pragma once

#include <exception>

#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"

namespace rubato {

/// Runs `work`, which may fail in some processes; called by all of them. Errors: NeedsOneProcess in
/// all of them if it failed in one. Process 0, which then runs alone, meets and reports the same
/// error.
template <typename Work>
void try_all(Team& team, Work work) {
  bool fine = true;
  try {
    work();
  } catch (const std::exception&) {
    fine = false;
  }
  if (!team.all(fine)) throw NeedsOneProcess{OneProcess::kFailed};
}

}  // namespace rubato
