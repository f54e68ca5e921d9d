#pragma once

#include <string>
#include <vector>

#include "replay/archive/metrics.h"
#include "tools/cli/commands.h"
#include "tools/report/platform_picture.h"
#include "tools/report/report.h"
#include "tools/report/scenario_pictures.h"

namespace rubato {

/// The origin of a page, shown in its last line; nothing without a command.
struct ReportOrigin {
  std::string date;  ///< "2026-11-25 14:03"
  std::string host;
  std::string command;  ///< quoted for a shell
};
/// The origin with the present date, or that of SOURCE_DATE_EPOCH. Errors: InputError as
/// source_date().
ReportOrigin report_origin(const std::string& command, const Arguments& arguments);

/// A report as one self-contained HTML file: the page, its style and script (share/report/),
/// Chart.js and the data. `platforms` are drawn with their fitted samples; `pictures` are
/// timelines; sweeps become curves and heat maps; counters of `metrics` are drawn over time.
/// Errors: InputError if the parts of the page are not installed.
std::string report_html(const Report& report, const std::vector<PlatformPicture>& platforms,
                        const std::vector<ScenarioPicture>& pictures = {},
                        const ReportOrigin& origin = {}, const Metrics& metrics = {});

/// The page `template_name` of share/report with "@TITLE@", "@CSS@", "@CHART@", "@JS@" (page.js,
/// export.js, then `scripts`) and "@DATA@" filled in; `data_json` is read by the script. Also used
/// for other pages (comparison).
std::string fill_page(const std::string& template_name, const std::vector<std::string>& scripts,
                      const std::string& title, const std::string& data_json);

}  // namespace rubato
