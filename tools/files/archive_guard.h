#pragma once

#include <string>

namespace rubato {

/// Reports may replace older reports, but never a part of an archive. Errors: UsageError if
/// `output` is inside `archive` (its directory or anchor file) or has the extension of an archive's
/// file.
void refuse_archive_part(const std::string& output, const std::string& archive);

}  // namespace rubato
