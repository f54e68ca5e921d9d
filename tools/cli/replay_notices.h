#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"

namespace rubato {

/// What to do about curves of a measured platform file that fall, at so many places
/// (platform_warnings()).
std::string falls_line(const std::string& file, size_t places);

/// Prints warnings about the platforms of scenarios, except presets; one for a measured file.
void warn_of_platforms(const std::vector<Scenario>& scenarios);

/// "replaying:  12 %, 4.1 %/s, about 21 s left": the completed share (0 to 1) after so many
/// seconds. During the first second only the percentage, because the rest would be a guess.
std::string progress_text(const std::string& word, double share, double seconds);

/// Shows that text on a terminal as the share grows, and clears the line at 1. If standard error is
/// not a terminal: null, or with RUBATO_PROGRESS=1 in the environment a line every 10 %.
std::function<void(double)> progress_line(const std::string& word);

}  // namespace rubato
