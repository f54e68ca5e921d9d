#include "models/base/number_text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>

using namespace rubato;

TEST_CASE("a number ends where it ends for strtod in the C locale") {
  const auto read = [](const std::string& text) {
    const char* rest = nullptr;
    const double value = leading_number(text.c_str(), &rest);
    return std::pair(value, std::string(rest));
  };
  using Read = std::pair<double, std::string>;
  CHECK(read("1.5 s") == Read{1.5, " s"});
  CHECK(read("+2e3") == Read{2000, ""});
  CHECK(read("-0.25:") == Read{-0.25, ":"});
  CHECK(read("1,5") == Read{1, ",5"});
  CHECK(read("abc") == Read{0, "abc"});
  CHECK(read("+-1") == Read{0, "+-1"});
  CHECK(read("") == Read{0, ""});
  CHECK(read("1e-400") == Read{0, ""});
  CHECK(read("0." + std::string(400, '0') + "1") == Read{0, ""});
  CHECK(read("1e400").first == INFINITY);
  CHECK(read("-1e400").first == -INFINITY);
  CHECK(std::isinf(read("1" + std::string(400, '0')).first));
}

TEST_CASE("numbers are written as printf writes them in the C locale") {
  CHECK(fixed_text(1234.5678, 2) == "1234.57");
  CHECK(fixed_text(-0.5, 0) == "-0");  // to even, as printf
  CHECK(general_text(1.66e-8, 3) == "1.66e-08");
  CHECK(general_text(1e6, 6) == "1e+06");
}
