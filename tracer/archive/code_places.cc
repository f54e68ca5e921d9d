#include "tracer/archive/code_places.h"

#include <algorithm>
#include <cstdio>

#include "tracer/code/function_filter.h"
#include "tracer/code/symbols.h"
#include "tracer/record/own_work.h"

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
  void add(uint64_t address, CodePlace place) { places_.at[address] = number(std::move(place)); }
  uint32_t number(CodePlace place) {
    const auto [known, is_new] =
        numbers_.try_emplace(place, static_cast<uint32_t>(places_.list.size()));
    if (is_new) places_.list.push_back(std::move(place));
    return known->second;
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

CodePlace place_of_function(const CodeName& code) {
  return {code.name, code.symbol, code.file, code.line};
}

CodePlace place_of_call(const CodeName& code) {
  const bool line_known = !code.file.empty();
  return {{}, {}, line_known ? code.file : outline(code), code.line};
}

/// The functions and lines of call paths.
class NamedPaths {
 public:
  NamedPaths(Symbols& symbols, List& functions, List& call_sites)
      : symbols_(symbols), functions_(functions), call_sites_(call_sites) {}

  NamedNode operator()(const PathNode& node) {
    if (node.function == 0) return {0, kNone, kNone};  // it was in records that are lost
    const auto [function, is_new] = function_at_.try_emplace(node.function);
    if (is_new)
      function->second = functions_.number(place_of_function(symbols_.find(node.function)));
    if ((node.address & kPathOfFunction) != 0) return {node.parent, function->second, kNone};
    const auto [site, is_new_site] = site_at_.try_emplace(node.address);
    if (is_new_site)
      site->second = call_sites_.number(place_of_call(symbols_.find_call(node.address)));
    return {node.parent, function->second, site->second};
  }

 private:
  Symbols& symbols_;
  List& functions_;
  List& call_sites_;
  std::map<uint64_t, uint32_t> function_at_, site_at_;
};

}  // namespace

void name_code(const Used& used, const std::vector<Module>& modules, const std::string& filter,
               ProcessReport& report) {
  report.call_paths = used.call_paths;
  if (used.functions.empty() && used.call_sites.empty() && used.paths.empty() &&
      used.callbacks.empty())
    return;
  Symbols symbols(modules);
  const FunctionFilter rules(filter);
  List functions(report.functions);
  for (const uint64_t address : sorted(used.functions)) {
    const CodeName code = symbols.find(address);
    if (rules.includes(code.name)) functions.add(address, place_of_function(code));
  }
  report.has_functions = !report.functions.at.empty();
  List call_sites(report.call_sites);
  for (const uint64_t address : sorted(used.call_sites)) {
    call_sites.add(address, place_of_call(symbols.find_call(address)));
  }
  List callbacks(report.callbacks);
  for (const uint64_t word : sorted(used.callbacks)) {
    const std::string kind = callback_kind(word);
    callbacks.add(word, {kind + " " + symbols.find(callback_address(word)).name, {}, {}, 0});
  }
  NamedPaths named(symbols, functions, call_sites);
  for (const auto& [thread, nodes] : used.paths) {
    std::vector<NamedNode>& list = report.paths[thread];
    for (const PathNode& node : nodes) list.push_back(named(node));
  }
}

}  // namespace tracing
}  // namespace rubato
