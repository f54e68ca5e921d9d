#include "tools/files/whole_directory.h"

#include <fmt/core.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "models/base/error.h"
#include "tools/files/whole_file.h"

namespace rubato {
namespace fs = std::filesystem;

WholeDirectory::WholeDirectory(const std::string& path) : path_(path) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)))
    throw InputError(fmt::format("{} exists; choose another name", path));
  target_ = target_of(path);
  while (target_.size() > 1 && target_.ends_with('/')) target_.pop_back();
  error.clear();
  // Created with 0777 less the umask, under an unpredictable name, against symlink attacks.
  const NotInterrupted between;
  std::random_device random;
  std::string temporary;
  for (int attempt = 0; attempt < 100 && temporary_.empty() && !error; ++attempt) {
    temporary = fmt::format("{}.part-{:08x}", target_, random());
    if (fs::create_directory(temporary, error)) temporary_ = temporary;
  }
  if (temporary_.empty()) fail(error.message());
  gone_.emplace(temporary_);
}

WholeDirectory::~WholeDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void WholeDirectory::commit() {
  // (rename() replaces an empty directory that was created meanwhile.)
  if (!gone_->keep_as(target_)) fail(std::strerror(errno));
  temporary_.clear();
}

void WholeDirectory::fail(const std::string& reason) const {
  throw InputError(fmt::format("{}: cannot be written: {}", path_, reason));
}

}  // namespace rubato
