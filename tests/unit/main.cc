#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

/// Of LeakSanitizer: OTF2 2.x keeps the handle of an archive that it cannot open.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:otf2_archive_open\n";
}
