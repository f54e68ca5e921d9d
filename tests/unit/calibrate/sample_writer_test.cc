#include "calibrate/program/sample_writer.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/base/error.h"
#include "tests/unit/directory.h"

namespace fs = std::filesystem;
using rubato::SampleWriter;

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

TEST_CASE("a sample file gets its name when it is complete") {
  const Directory in;
  const std::string name = in("a.csv");
  SampleWriter file(name, false);
  file.begin("head\n");
  CHECK(in.files() == 0);
  CHECK(file.kept().empty());
  file.add("one\n");
  file.add("two\n");
  CHECK(!fs::exists(name));
  CHECK(file.kept() == name + ".partial");
  CHECK(content(file.kept()) == "head\none\ntwo\n");
  file.finish();
  CHECK(content(name) == "head\none\ntwo\n");
  CHECK(in.files() == 1);
  CHECK(file.kept().empty());
  CHECK_THROWS_WITH(SampleWriter(name, false),
                    Catch::Contains("a.csv exists; choose another name"));
  CHECK_NOTHROW(SampleWriter(name, true));
  CHECK(content(name) == "head\none\ntwo\n");  // it is replaced by finish() alone
}

TEST_CASE("samples outlive a run that fails") {
  const Directory in;
  const std::string name = in("a.csv");
  SampleWriter(name, false).add("measured\n");
  CHECK(content(name + ".partial") == "measured\n");
  CHECK_THROWS_WITH(SampleWriter(name, false),
                    Catch::Contains("a.csv.partial is what a run left that was killed or failed: "
                                    "'rubato fit' reads samples; move it away"));
  CHECK_THROWS_WITH(SampleWriter(name, false, rubato::Rows::kObservations),
                    Catch::Contains("what a run left that was killed or failed; move it away"));
  CHECK(content(name + ".partial") == "measured\n");
  SampleWriter(name, true);
  CHECK(in.files() == 0);
}

TEST_CASE("a link in place of the partial sample file is not followed") {
  const Directory in;
  const std::string name = in("a.csv");
  std::ofstream(in("victim")) << "mine\n";
  fs::create_symlink("victim", name + ".partial");
  for (const bool force : {false, true}) {
    CHECK_THROWS_WITH(SampleWriter(name, force),
                      Catch::Contains("a.csv.partial is no regular file"));
  }
  fs::remove(name + ".partial");
  SampleWriter file(name, false);
  fs::create_symlink("victim", name + ".partial");
  CHECK_THROWS_WITH(file.add("measured\n"), Catch::Contains("could not be written"));
  CHECK(content(in("victim")) == "mine\n");
}

TEST_CASE("a full disk leaves no half of a row, and what was there before") {
  const Directory in;
  const std::string name = in("a.csv");
  const std::string large(1000, 'x');
  SampleWriter file(name, false);
  {
    const FullDisk full(100);
    CHECK_THROWS_WITH(file.add(large), Catch::Contains("a.csv could not be written: "));
    CHECK(in.files() == 0);
    CHECK(file.kept().empty());
    file.begin("");  // forgets it
    file.add("measured\n");
    CHECK_THROWS_AS(file.add(large), rubato::InputError);
    CHECK(content(file.kept()) == "measured\n");
    CHECK_THROWS_AS(file.finish(), rubato::InputError);
    CHECK(content(file.kept()) == "measured\n");
    CHECK(!fs::exists(name));
  }
  // Once there is space, all of it is written.
  file.finish();
  CHECK(content(name) == "measured\n" + large);
  CHECK(in.files() == 1);
}

TEST_CASE("samples whose name is taken meanwhile are kept under another name") {
  const Directory in;
  const std::string name = in("a.csv");
  SampleWriter file(name, true);
  file.add("whole\n");
  fs::create_directory(name);
  CHECK_THROWS_WITH(file.finish(), Catch::Contains("a.csv could not be written: "));
  CHECK(content(file.kept()) == "whole\n");
}

TEST_CASE("useless rows can be dropped, and write errors are reported at once") {
  const Directory in;
  SampleWriter file(in("a.csv"), false);
  file.add("too few\n");
  file.discard();
  CHECK(in.files() == 0);
  CHECK(file.kept().empty());
  CHECK_THROWS_WITH(rubato::refuse_unwritable(in("."), true),
                    Catch::Contains("cannot be written: it is a directory"));
  CHECK_THROWS_WITH(rubato::refuse_output(in("nowhere/b.toml"), true),
                    Catch::Contains("b.toml cannot be written: No such file or directory"));
}
