#include "tools/files/archive_guard.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "models/base/error.h"
#include "tools/files/whole_file.h"

namespace rubato {
namespace fs = std::filesystem;

void refuse_archive_part(const std::string& output, const std::string& archive) {
  std::error_code ignored;
  const fs::path target = target_of(output);
  const std::string extension = target.extension().string();
  const bool is_part = extension == ".otf2" || extension == ".def" || extension == ".evt";
  const fs::path root = fs::canonical(archive, ignored);
  bool is_inside = false;
  if (fs::is_directory(root, ignored)) {
    const auto mismatch = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    is_inside = mismatch.first == root.end();
  }
  if (is_part || is_inside) {
    throw UsageError(fmt::format(
        "{}: reports are not written into an archive; choose a file name outside of it", output));
  }
}

}  // namespace rubato
