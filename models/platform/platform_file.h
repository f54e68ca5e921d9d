#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// Reads a platform file (TOML; share/doc/platform-files.md). Errors: InputError with file, line,
/// and the nearest key for an unknown one.
Platform load_platform(const std::string& path);

/// The same from text; `origin` is the file name in messages.
Platform parse_platform(const std::string& text, const std::string& origin);

/// Reads a file that holds only a [network], such as the files in share/networks. Errors: as
/// load_platform().
ContentionSetting load_network(const std::string& path);

/// Warnings about a platform file: sizes at which longer messages are faster (curve_falls()), a
/// line each, with file and line. Errors: as parse_platform().
std::vector<std::string> platform_warnings(const std::string& text, const std::string& origin);

/// The same for a file. Errors: as load_platform().
std::vector<std::string> load_platform_warnings(const std::string& path);

/// Comment lines of a platform file.
struct PlatformComments {
  std::array<std::string, kLevels> levels;  ///< below the curves of each level (curve_ranges())
  std::string contention;                   ///< beside the platform's own (note_load())
  std::string memory{};                     ///< below the curve of copies (copy_ranges())
};

/// Significant digits of the times and bandwidths in a file.
inline constexpr int kAllDigits = 6;
/// Likewise in a file of measured numbers, unless its user asks for more.
inline constexpr int kMeasuredDigits = 4;
inline constexpr int kLeastDigits = 2, kMostDigits = 15;

/// The platform as the text of a platform file, with comments that explain it; parse_platform reads
/// it back to the same numbers within the printed digits.
std::string format_platform(const Platform& platform, const PlatformComments& comments = {},
                            int digits = kAllDigits);

}  // namespace rubato
