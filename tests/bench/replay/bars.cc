#include "bars.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

struct Bar {
  std::string what;
  double value;
  double bar;
  bool of_this_machine;

  bool met() const { return of_this_machine ? value >= bar : value <= bar; }
};

std::vector<Bar> bars;

}  // namespace

void expect_at_most(const std::string& what, double value, double most) {
  bars.push_back({what, value, most, false});
}

void expect_of_this_machine(const std::string& what, double value, double least) {
  bars.push_back({what, value, least, true});
}

bool print_bars() {
  if (bars.empty()) return true;
  std::printf("\nBars:\n");
  bool all = true;
  for (const Bar& b : bars) {
    std::printf("%-62s %8.3f  %s %6.2f  %s%s\n", b.what.c_str(), b.value,
                b.of_this_machine ? ">=" : "<=", b.bar, b.met() ? "yes" : "NO",
                b.of_this_machine ? "  (this machine's)" : "");
    all &= b.met() || b.of_this_machine;
  }
  const auto missed =
      std::count_if(bars.begin(), bars.end(), [](const Bar& b) { return !b.met(); });
  std::printf("%zu bars, %zd missed\n", bars.size(), static_cast<ssize_t>(missed));
  return all;
}
