#include "calibrate/new_file.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/error.h"
#include "tests/unit/directory.h"

namespace fs = std::filesystem;
using rubato::NewFile;

namespace {

/// One whose files are named and counted.
struct Directory : rubato::TemporaryDirectory {
  std::string operator()(const char* name) const { return (path() / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path()), {}));
  }
};

std::string content(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// No file of this process grows beyond so many bytes: what a full disk is to it.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a file has its name when it is whole") {
  const Directory in;
  const std::string name = in("a.csv");
  {
    NewFile file(name, false);
    CHECK(in.files() == 0);
    file.write("half");
    CHECK(!fs::exists(name));
  }
  CHECK(in.files() == 0);  // without commit() nothing remains
  NewFile file(name, false);
  file.append("one\n");
  file.append("two\n");
  CHECK(file.kept() == name + ".partial");
  CHECK(content(file.kept()) == "one\ntwo\n");
  file.write("one\ntwo\nthree\n");
  file.commit();
  CHECK(content(name) == "one\ntwo\nthree\n");
  CHECK(in.files() == 1);
  CHECK(file.kept().empty());
  CHECK_THROWS_WITH(NewFile(name, false), Catch::Contains("a.csv exists; choose another name"));
  CHECK_NOTHROW(NewFile(name, true));
  CHECK(content(name) == "one\ntwo\nthree\n");  // it is replaced by commit() alone
}

TEST_CASE("what was appended outlives a run that fails") {
  const Directory in;
  const std::string name = in("a.csv");
  NewFile(name, false).append("measured\n");
  CHECK(content(name + ".partial") == "measured\n");
  CHECK_THROWS_WITH(NewFile(name, false), Catch::Contains("a.csv.partial is what a run left"));
  CHECK(content(name + ".partial") == "measured\n");
  NewFile(name, true);
  CHECK(in.files() == 0);
}

TEST_CASE("a full disk leaves no half of a part, and what was there before") {
  const Directory in;
  const std::string name = in("a.csv");
  const std::string large(1000, 'x');
  NewFile file(name, false);
  {
    const FullDisk full(100);
    CHECK_THROWS_WITH(file.append(large), Catch::Contains("a.csv could not be written: "));
    CHECK(in.files() == 0);
    CHECK(file.kept().empty());
    file.append("measured\n");
    CHECK_THROWS_AS(file.append(large), rubato::InputError);
    CHECK(content(file.kept()) == "measured\n");
    CHECK_THROWS_AS(file.write(large), rubato::InputError);
  }
  CHECK(content(file.kept()) == "measured\n");
  CHECK(!fs::exists(name));
}

TEST_CASE("a whole file whose name is taken meanwhile stays under another") {
  const Directory in;
  const std::string name = in("a.csv");
  {
    NewFile file(name, true);
    file.write("whole\n");
    fs::create_directory(name);
    CHECK_THROWS_WITH(file.commit(), Catch::Contains("it is complete in " + name + ".new"));
  }
  CHECK(content(name + ".new") == "whole\n");
}

TEST_CASE("what is of no use can be taken away, and what another run left whole is not") {
  const Directory in;
  const std::string name = in("a.csv");
  NewFile file(name, false);
  file.append("too few\n");
  file.discard();
  CHECK(in.files() == 0);
  CHECK(file.kept().empty());
  std::ofstream(name + ".new") << "whole\n";
  CHECK_THROWS_WITH(
      NewFile(name, false),
      Catch::Contains("a.csv.new is what a run left that was killed while it wrote") &&
          !Catch::Contains("rubato fit"));
  CHECK(content(name + ".new") == "whole\n");
  // One that cannot be opened is not this file's to remove either.
  fs::remove(name + ".new");
  fs::create_symlink(in("nowhere/whole"), name + ".new");
  {
    NewFile other(name, true);
    CHECK_THROWS_AS(other.write("whole\n"), rubato::InputError);
  }
  CHECK(fs::is_symlink(name + ".new"));
}
