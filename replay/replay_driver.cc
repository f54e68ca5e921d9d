#include "replay/replay_driver.h"

#include "models/error.h"

namespace rubato {

Results run_replay(const std::string& archive, const std::vector<Scenario>&, const ReplayOptions&) {
  throw InputError(archive + ": this build has no replay engine yet");
}

TraceSummary summarize_archive(const std::string& archive, const ReplayOptions&) {
  throw InputError(archive + ": this build has no archive reader yet");
}

}  // namespace rubato
