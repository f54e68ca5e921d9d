#pragma once

#include <set>
#include <string>

namespace rubato {

/// All of a text file, or of a pipe. `what` names it in messages, "a platform file"; it has `most`
/// bytes at most. Errors: InputError with the path and the reason.
std::string text_of_file(const std::string& path, const std::string& what, size_t most);

/// The input files that this thread opens while it lives, by path: what results may depend on. One
/// at a time.
class InputFiles {
 public:
  InputFiles();
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  const std::set<std::string>& opened() const { return opened_; }
  void add(const std::string& path) { opened_.insert(path); }

 private:
  std::set<std::string> opened_;
};

}  // namespace rubato
