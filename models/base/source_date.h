#pragma once

#include <ctime>
#include <optional>

namespace rubato {

/// When pages and archives say that they were made, where the environment asks for the same bytes
/// each time: SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch), seconds
/// since 1970. Nothing where it is not set or empty: the present. Errors: InputError where it is no
/// such number.
std::optional<std::time_t> source_date();

}  // namespace rubato
