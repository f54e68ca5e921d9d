#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "replay/study/intervals.h"
#include "replay/study/sweep.h"
#include "tools/cli/commands.h"
#include "tools/report/platform_picture.h"
#include "tools/report/scenario_pictures.h"

namespace rubato {

/// Where a page comes from, for its last line; none without a command.
struct ReportOrigin {
  std::string date;  ///< "2026-11-25 14:03"
  std::string host;
  std::string command;  ///< as a shell takes it
};
/// The present, or what SOURCE_DATE_EPOCH says. Errors: InputError as source_date().
ReportOrigin report_origin(const std::string& command, const Arguments& arguments);

/// A report as one self-contained HTML file: the page, its style and script (share/report/),
/// Chart.js and the data. `platforms` are drawn with the samples they were fitted to; `intervals`
/// are those of elapsed times; `pictures` are timelines; `sweeps` become curves and heat maps.
/// Errors: InputError when the parts of the page are not installed.
std::string report_html(const Results& results, const std::vector<PlatformPicture>& platforms,
                        const Intervals& intervals = {},
                        const std::vector<ScenarioPicture>& pictures = {},
                        const std::vector<Sweep>& sweeps = {}, const ReportOrigin& origin = {});

/// The page `template_name` of share/report with "@TITLE@", "@CSS@", "@CHART@", "@JS@" (page.js,
/// then `scripts`) and "@DATA@" filled in; `data_json` is read by the script. Other pages
/// (comparison) are made with it too.
std::string fill_page(const std::string& template_name, const std::vector<std::string>& scripts,
                      const std::string& title, const std::string& data_json);

}  // namespace rubato
