#pragma once

#include <string>

namespace rubato {

/// A cell that spreadsheets do not interpret as a formula: prefixed with an apostrophe if it begins
/// like one ("=1+1", "-x") and is not a number.
std::string no_formula(const std::string& text);

/// A name as a CSV cell: not a formula, in quotation marks if necessary.
std::string csv_text(const std::string& name);

}  // namespace rubato
