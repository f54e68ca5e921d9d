#include "replay/study/run_replay.h"

#include <memory>
#include <optional>

#include "replay/run/other_jobs.h"
#include "replay/sources/input_format.h"
#include "replay/study/fit_degradation.h"

namespace rubato {

Results run_replay(EventSource& source, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options) {
  if (!any_fits_degradation(scenarios)) return replay_with_jobs(source, scenarios, options);
  std::vector<Scenario> fitted = scenarios;
  const std::vector<std::optional<DegradationFit>> fits = fit_degradations(source, fitted, options);
  Results results = replay_with_jobs(source, fitted, options);
  for (size_t i = 0; i < fits.size(); ++i) results.scenarios[i].degradation_fit = fits[i];
  return results;
}

Results run_replay(const std::string& archive, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options) {
  const std::unique_ptr<EventSource> source =
      open_trace(archive, {options.ignore_offsets, options.threads});
  return run_replay(*source, scenarios, options);
}

TraceSummary summarize_archive(const std::string& archive, const ReplayOptions& options) {
  const std::unique_ptr<EventSource> source =
      open_trace(archive, {options.ignore_offsets, options.threads});
  TraceSummary summary = run_replay(*source, {}, options).trace;
  summary.kernels = source->kernels();
  return summary;
}

}  // namespace rubato
