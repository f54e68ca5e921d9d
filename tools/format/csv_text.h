#pragma once

#include <string>

namespace rubato {

/// A cell that spreadsheets do not take for a formula: behind an apostrophe where it begins like
/// one
/// ("=1+1", "-x") and is no number.
std::string no_formula(const std::string& text);

/// A name as a cell of CSV: no formula, in quotation marks where it needs them.
std::string csv_text(const std::string& name);

}  // namespace rubato
