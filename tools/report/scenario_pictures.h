#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/analyse/place_summary.h"
#include "replay/analyse/run_windows.h"
#include "replay/analyse/traffic_picture.h"
#include "replay/judge/roles.h"
#include "replay/observe/results.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// (The letters from here on have no special meaning in JSON and HTML.)
inline constexpr char kFirstActivity = '@';

/// The timeline of one scenario for the page.
struct ScenarioPicture {
  size_t scenario = 0;  ///< index into Results::scenarios
  int rows = 0;
  int columns = 0;
  int ranks_per_row = 1;
  /// Row by row, each cell's Activity as a letter, kFirstActivity for 0; "" if pieces are finer.
  std::string cells;
  std::vector<std::string> functions;  ///< with colours, in the order of their numbers
  std::vector<int> path_rows;          ///< TimelinePicture::path_rows(); without path_pieces
  std::string path_pieces;             ///< packed_path()
  std::string path;                    ///< the critical path in a sentence
  std::optional<PlaceSummary> places;  ///< if waits are known
  TrafficPicture traffic;
  EfficienciesOverTime over_time;    ///< of the recording, where they are defined
  nlohmann::ordered_json pieces;     ///< packed_pieces()
  std::optional<Sampling> sampling;  ///< that its functions are known from
  std::string messages;              ///< packed_messages() of the longest ones
  double message_unit = 1e-9;        ///< seconds; of `messages` and `path_pieces`
  uint64_t all_messages = 0;
};

/// Maximum number of timelines of a page, and of cells of each, so that it stays below 5 MB.
inline constexpr size_t kMostPictures = 8;
inline constexpr size_t kPictureCells = 120000;
/// Maximum number of rows of a matrix: ranks, or groups of ranks.
inline constexpr int kTrafficRows = 128;
/// The scenarios to draw, by index: the reference, `perfect`, and the first others. Scenarios that
/// deadlock are left out.
std::vector<size_t> choose_pictures(const Roles& roles);

/// Opens and reads the archive once more, for another thread; null on failure, then fewer threads
/// draw.
using OpenAgain = std::function<std::unique_ptr<EventSource>()>;

/// Replays the chosen scenarios once more and draws them. `results` are those of `scenarios`. With
/// several `threads`, the others read archives of their own, from `open_again`. Errors: as
/// run_replay().
std::vector<ScenarioPicture> draw_scenarios(EventSource& source,
                                            const std::vector<Scenario>& scenarios,
                                            const Results& results, const ReplayOptions& options,
                                            int threads = 1, const OpenAgain& open_again = {});

/// The number of drawing threads: `asked`, if above 0; else one per processor, up to four, if the
/// run is large enough to pay for reading its archive again.
int drawing_threads(const EventSource& source, int asked);

}  // namespace rubato
