// Shared by the targets (targets.h).
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "tools/cli/terminal_text.h"

namespace rubato {
class EventSource;
}

/// A directory of this process, in memory where there is such a place; it goes away at the end.
const std::filesystem::path& fuzz_directory();

std::string file_bytes(const std::filesystem::path& path);
std::filesystem::path put_file(const std::filesystem::path& path, const std::string& bytes);
/// The files below a directory, in the order of their names.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory);

/// Several files in a row, each behind its name, a 0, and its length in 8 bytes.
void pack_file(std::string& packed, const std::string& name, const std::string& content);

/// Takes the next file from `at` on; false at the end, or where what follows is torn. A length
/// beyond the end ends there. Names other than of letters, digits, '.' and '/', or with "..",
/// become empty.
bool unpack_file(const std::string& packed, size_t& at, std::string& name, std::string& content);

/// Replays on several machines, and writes it up. Throws InputError where that is refused.
void replay_everywhere(const std::string& archive);
void replay_everywhere(rubato::EventSource& source);

/// Throws where a refusal says nothing.
inline void check_refusal(const std::exception& error) {
  if (rubato::one_line(error.what()).empty()) throw std::logic_error("a refusal without a word");
}

/// Runs `body`, which may refuse its input in one line.
template <typename Body>
void answer(Body body) {
  try {
    body();
  } catch (const rubato::InputError& error) {
    check_refusal(error);
  } catch (const rubato::UsageError& error) {
    check_refusal(error);
  }
}
