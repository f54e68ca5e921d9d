#pragma once

#include <exception>

#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"

namespace rubato {

/// Does what may fail in some processes; all of them call it. Errors: NeedsOneProcess in all of
/// them where it failed in one. Process 0, then alone, comes to the same and says what it is.
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
