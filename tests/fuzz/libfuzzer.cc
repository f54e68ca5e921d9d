// Fuzzing guided by coverage, with clang++:
//
//   cmake -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
//     -DRUBATO_TESTS=ON -DRUBATO_FUZZ=ON -DRUBATO_SANITIZE=ON
//   ninja -C build-fuzz rubato-libfuzzer && mkdir corpus
//   RUBATO_FUZZ_TARGET=platform RUBATO_FUZZ_SHARE=share build-fuzz/bin/rubato-libfuzzer corpus
//
// The targets are those of targets.h; an empty corpus gets their seeds, corpus.py makes more.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/targets.h"

namespace {

const FuzzTarget& target() {
  static const FuzzTarget& chosen = []() -> const FuzzTarget& {
    const char* name = std::getenv("RUBATO_FUZZ_TARGET");
    return fuzz_target(name ? name : "platform");
  }();
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace fs = std::filesystem;
  const char* share = std::getenv("RUBATO_FUZZ_SHARE");
  for (int i = 1; i < *argc; ++i) {
    const fs::path corpus = (*argv)[i];
    if (!fs::is_directory(corpus) || !fs::is_empty(corpus)) continue;
    int number = 0;
    for (const std::string& seed : target().seeds(share ? share : "share"))
      std::ofstream(corpus / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
    break;
  }
  return 0;
}

// (What is thrown ends the process, as a crash does.)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target().read({reinterpret_cast<const char*>(data), size});
  return 0;
}
