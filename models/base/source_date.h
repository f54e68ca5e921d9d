#pragma once

#include <ctime>
#include <optional>

namespace rubato {

/// The creation date of pages and archives for reproducible output: SOURCE_DATE_EPOCH
/// (https://reproducible-builds.org/specs/source-date-epoch), seconds since 1970. Nothing if that
/// is unset or empty: use the present. Errors: InputError if it is not such a number.
std::optional<std::time_t> source_date();

}  // namespace rubato
