#pragma once

#include <string>

namespace rubato {

/// `text` as a cell of CSV: in quotation marks where it needs them.
std::string csv_text(const std::string& text);

}  // namespace rubato
