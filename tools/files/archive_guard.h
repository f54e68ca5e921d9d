#pragma once

#include <string>

namespace rubato {

/// Reports may be written over older reports, but never over a part of an archive: throws
/// UsageError when `output` lies inside `archive` (its directory or anchor file) or names a file of
/// one.
void refuse_archive_part(const std::string& output, const std::string& archive);

}  // namespace rubato
