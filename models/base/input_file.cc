#include "models/base/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "models/base/error.h"

namespace rubato {

std::string text_of_file(const std::string& path, const std::string& what, size_t most) {
  const auto fail = [&](int error) {
    throw InputError(path + ": cannot be read as " + what + ": " + std::strerror(error));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(path + ": is a directory, not " + what + "; name a file in it");
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(errno);
  std::string text;
  std::array<char, 1 << 16> part;
  ssize_t count = 0;
  int error = 0;
  while (text.size() <= most) {
    count = read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    text.append(part.data(), static_cast<size_t>(count));
  }
  close(file);
  if (error != 0) fail(error);
  if (text.size() > most) {
    throw InputError(path + ": is larger than " + std::to_string(most >> 20) + " MiB, and not " +
                     what);
  }
  return text;
}

}  // namespace rubato
