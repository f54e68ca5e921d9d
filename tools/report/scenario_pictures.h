#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/analyse/place_summary.h"
#include "replay/analyse/traffic_picture.h"
#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/trace/trace.h"

namespace rubato {

/// (Letters from here on mean nothing in JSON and HTML.)
inline constexpr char kFirstActivity = '@';

/// The timeline of one scenario as the page draws it.
struct ScenarioPicture {
  size_t scenario = 0;  ///< index into Results::scenarios
  int rows = 0;
  int columns = 0;
  int ranks_per_row = 1;
  std::string cells;  ///< row by row, each cell's Activity as a letter, kFirstActivity for 0
  std::vector<std::string> functions;  ///< that have colours, in the order of their numbers
  std::vector<int> path_rows;          ///< TimelinePicture::path_rows()
  std::string path;                    ///< the critical path in a sentence
  std::optional<PlaceSummary> places;  ///< where waits are known
  TrafficPicture traffic;
  std::vector<DrawnMessage> messages;  ///< all of them; none if they are too many
};

/// A page has at most so many timelines, of so many cells each, and stays below 5 MB.
inline constexpr size_t kMostPictures = 8;
inline constexpr size_t kPictureCells = 200000;
/// At most so many ranks or groups of them have a row of their own in a matrix.
inline constexpr int kTrafficRows = 128;
/// Of a scenario with more messages none is drawn.
inline constexpr size_t kDrawnMessages = 2000;

/// Which of the scenarios that came to their end a page draws, by index: the one that others are
/// compared with, `perfect`, and the first others.
std::vector<size_t> choose_pictures(const std::vector<ScenarioResult>& scenarios);

/// Opens the archive of the pictures once more, and reads it; null where it cannot: then others
/// draw all.
using OpenAgain = std::function<std::unique_ptr<EventSource>()>;

/// Replays those scenarios once more and draws them. `results` are those of `scenarios`. With more
/// than one of `threads` the others have archives of their own, from `open_again`. Errors: as
/// run_replay().
std::vector<ScenarioPicture> draw_scenarios(EventSource& source,
                                            const std::vector<Scenario>& scenarios,
                                            const Results& results, const ReplayOptions& options,
                                            int threads = 1, const OpenAgain& open_again = {});

/// How many threads are to draw: what `asked` says, if it is more than 0, else one per processor,
/// up to four, where the run is longer than it takes to read its archive again.
int drawing_threads(const EventSource& source, int asked);

}  // namespace rubato
