#include "replay/analyse/model_error.h"

#include <algorithm>
#include <cmath>

#include "replay/analyse/other_rows.h"

namespace rubato {

std::vector<ModelError> model_errors(const Results& results, const ScenarioResult* run,
                                     const ScenarioResult* model) {
  if (!model || !run || results.trace.calling_threads > 0) return {};
  const auto of_call = [](const ScenarioResult& scenario, size_t call) {
    double seconds = 0;
    for (const RankResult& rank : scenario.ranks)
      seconds += call < rank.calls.size() ? rank.calls[call].time : 0;
    return seconds / static_cast<double>(std::max<size_t>(1, scenario.ranks.size()));
  };
  std::vector<ModelError> errors;
  const auto add = [&](const std::string& part, double recorded, double predicted) {
    if (recorded != predicted) errors.push_back({part, recorded, predicted});
  };
  add("compute", mean(run->ranks, &RankResult::compute), mean(model->ranks, &RankResult::compute));
  for (const OtherRow& other : kOtherRows)
    add(other.key, mean(run->ranks, other.seconds), mean(model->ranks, other.seconds));
  const std::vector<std::string>& calls = results.calls;
  for (size_t call = 0; call < calls.size(); ++call) {
    if (!outside_elapsed(calls[call])) add(calls[call], of_call(*run, call), of_call(*model, call));
  }
  std::stable_sort(errors.begin(), errors.end(), [](const ModelError& a, const ModelError& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
  return errors;
}

std::optional<double> error_of_calls(const Results& results, const ScenarioResult* run,
                                     const ScenarioResult* model) {
  if (!model || !run || results.trace.calling_threads > 0) return {};
  const double mpi = mean(model->ranks, &RankResult::mpi);
  if (!(mpi > 0)) return {};
  double sum = 0;
  for (const ModelError& error : model_errors(results, run, model))
    if (error.part.starts_with("MPI_")) sum += std::abs(error.difference());
  return sum / mpi;
}

}  // namespace rubato
