#include "tracer/code/code_places.h"

#include <algorithm>
#include <cstdio>

#include "tracer/code/function_filter.h"
#include "tracer/code/symbols.h"

namespace rubato {
inline namespace tracing {
namespace {

/// In ascending order, so that numbers are deterministic.
std::vector<uint64_t> sorted(const std::unordered_set<uint64_t>& addresses) {
  std::vector<uint64_t> list(addresses.begin(), addresses.end());
  std::sort(list.begin(), list.end());
  return list;
}

/// Adds places, equal ones once.
class List {
 public:
  explicit List(CodePlaces& places) : places_(places) {}
  void add(uint64_t address, CodePlace place) {
    const auto [known, is_new] =
        numbers_.try_emplace(place, static_cast<uint32_t>(places_.list.size()));
    if (is_new) places_.list.push_back(std::move(place));
    places_.at[address] = known->second;
  }

 private:
  CodePlaces& places_;
  std::map<CodePlace, uint32_t> numbers_;
};

/// Without debug information: the module, and how far into which function of it.
std::string outline(const CodeName& code) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(code.offset));
  return code.known ? code.module + " (" + code.name + offset + ")" : code.name;
}

}  // namespace

void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report) {
  if (used.functions.empty() && used.call_sites.empty()) return;
  Symbols symbols(modules);
  const FunctionFilter rules(filter);
  List functions(report.functions);
  for (const uint64_t address : sorted(used.functions)) {
    const CodeName code = symbols.find(address);
    if (rules.includes(code.name)) {
      functions.add(address, {code.name, code.symbol, code.file, code.line});
    }
  }
  List call_sites(report.call_sites);
  for (const uint64_t address : sorted(used.call_sites)) {
    const CodeName code = symbols.find_call(address);
    const bool line_known = !code.file.empty();
    call_sites.add(address, {{}, {}, line_known ? code.file : outline(code), code.line});
  }
}

}  // namespace tracing
}  // namespace rubato
