#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

/// One tree of call paths for the whole job. Each thread has recorded its own (call_paths.h); nodes
/// with the same function, line and parent become one definition.
namespace rubato {
inline namespace tracing {

struct ProcessReport;
struct Numbering;

/// A node of the tree of a thread, as recorded.
struct PathNode {
  uint32_t parent = 0;    ///< its number; 0: none
  uint64_t address = 0;   ///< where the call returns to, or a kPathOfFunction
  uint64_t function = 0;  ///< where the function begins
};

/// The same with the places of its code: indices into the lists of the ProcessReport, kNone where
/// there is no line.
struct NamedNode {
  uint32_t parent = 0;
  uint32_t function = 0;
  uint32_t call_site = 0;
};

/// By number of the node; number 0 is none.
template <class Node>
using PathsOfThreads = std::map<uint32_t, std::vector<Node>>;

/// A definition of the archive, with the numbers of others.
struct CallingContext {
  uint32_t parent;  ///< kNone: it is outermost
  uint32_t region;
  uint32_t call_site;  ///< kNone: it is where a thread was interrupted

  auto operator<=>(const CallingContext&) const = default;
};

class ContextTable {
 public:
  uint32_t add(const CallingContext& context);
  const std::vector<CallingContext>& list() const { return list_; }

  std::string pack(size_t from = 0) const;  ///< those from this number on
  /// Adds contexts that pack(shared) gave; the first `shared` ones are the same in both tables.
  void add_packed(const std::string& bytes, size_t shared);

 private:
  std::vector<CallingContext> list_;
  std::map<CallingContext, uint32_t> numbers_;
};

/// Numbers in the table, by thread and by number of the node.
using ContextNumbers = std::unordered_map<uint32_t, std::vector<uint32_t>>;

/// Adds the paths of a process.
ContextNumbers add_contexts(const ProcessReport& own, const Numbering& numbering,
                            ContextTable& table);

}  // namespace tracing
}  // namespace rubato
