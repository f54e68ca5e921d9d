#include "temporary_archive.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>

#include "cost.h"

TemporaryArchive::TemporaryArchive(const MadeArchive& what)
    : directory_(std::filesystem::temp_directory_path() / "rubato-bench-XXXXXX") {
  if (!mkdtemp(directory_.data())) {
    std::perror(directory_.c_str());
    std::exit(1);
  }
  cost_of([&] { make_archive(what, archive()); });
}

TemporaryArchive::~TemporaryArchive() {
  if (std::getenv("RUBATO_BENCH_KEEP"))
    std::printf("%s\n", archive().c_str());
  else
    std::filesystem::remove_all(directory_);
}
