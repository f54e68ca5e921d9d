#include "replay/parallel/spread_run.h"

#include "replay/parallel/result_stream.h"

namespace rubato {

void SpreadRun::collect(std::vector<ScenarioResult>& results) {
  ByteWriter mine;
  for (const auto& [scenario, owner] : owner_of_) {
    if (owner == team_->self()) put_result(mine, results[scenario]);
  }
  const std::vector<Bytes> all = team_->gather(mine.take());
  std::vector<ByteReader> readers(all.begin(), all.end());
  for (const auto& [scenario, owner] : owner_of_) {
    if (owner > 0 && team_->leads()) results[scenario] = take_result(readers[owner]);
  }
}

}  // namespace rubato
