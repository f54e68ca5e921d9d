#include "replay/trace/mpi_calls.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

namespace rubato {
namespace {

/// A line of tracer/hooks/mpi_calls.txt: one call, or a pattern with *.
struct KnownCall {
  std::string_view name;
  CallSemantics semantics;
};

/// First the calls, then the patterns: the first match is used.
constexpr KnownCall kKnownCalls[] = {
#include "replay/trace/mpi_calls.inc"
};

bool fits(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (size_t end = star; end <= name.size(); ++end) {
    if (fits(pattern.substr(star + 1), name.substr(end))) return true;
  }
  return false;
}

bool drop_end(std::string& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.resize(name.size() - end.size());
  return true;
}

}  // namespace

std::string mpi_call_name(const std::string& region) {
  std::string name = region;
  drop_end(name, "()");
  while (drop_end(name, "_")) {
  }
  // The symbols of the module mpi_f08, and those for array arguments with descriptors.
  const bool is_large = drop_end(name, "_large");
  for (const char* end : {"_f08ts", "_f08", "_fts", "_F08TS", "_F08", "_FTS"}) {
    if (drop_end(name, end)) break;
  }
  if (is_large) name += "_c";
  if (name.rfind("PMPI_", 0) == 0 || name.rfind("pmpi_", 0) == 0) name.erase(0, 1);
  if (name.rfind("MPIX_", 0) == 0) name.erase(3, 1);  // Open MPI 4's names of MPI 4 calls
  if (name.size() < 6) return "";
  std::string head = name.substr(0, 4);
  for (char& c : head) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (head != "MPI_") return "";
  // Fortran names have one case; the standard has a capital after MPI_ and lower case after it.
  const bool one_case =
      std::none_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::islower(c); }) ||
      name.rfind("mpi_", 0) == 0;
  name.replace(0, 4, "MPI_");
  if (one_case) {
    for (size_t i = 4; i < name.size(); ++i) {
      const auto c = static_cast<unsigned char>(name[i]);
      name[i] = static_cast<char>(i == 4 ? std::toupper(c) : std::tolower(c));
    }
  }
  return name;
}

MpiCallInfo mpi_call_info(const std::string& call) {
  MpiCallInfo info;
  info.name = call;
  std::string small_form = call;
  drop_end(small_form, "_c");
  const auto* known =
      std::find_if(std::begin(kKnownCalls), std::end(kKnownCalls),
                   [&](const KnownCall& candidate) { return fits(candidate.name, small_form); });
  if (known != std::end(kKnownCalls)) static_cast<CallSemantics&>(info) = known->semantics;
  return info;
}

}  // namespace rubato
