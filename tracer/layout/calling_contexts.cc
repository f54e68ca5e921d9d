#include "tracer/layout/calling_contexts.h"

#include "tracer/layout/definitions.h"

namespace rubato {
inline namespace tracing {

uint32_t ContextTable::add(const CallingContext& context) {
  const auto [known, is_new] = numbers_.try_emplace(context, static_cast<uint32_t>(list_.size()));
  if (is_new) list_.push_back(context);
  return known->second;
}

std::string ContextTable::pack(size_t from) const {
  Packer packer;
  packer.put(list_.size() - from);
  for (size_t i = from; i < list_.size(); ++i) {
    packer.put(uint64_t{list_[i].parent} << 32 | list_[i].region);
    packer.put(list_[i].call_site);
  }
  return packer.bytes();
}

void ContextTable::add_packed(const std::string& bytes, size_t shared) {
  Unpacker from(bytes);
  std::vector<uint32_t> numbers;
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    const uint64_t both = from.value();
    auto parent = static_cast<uint32_t>(both >> 32);
    if (parent != kNone && parent >= shared) parent = numbers.at(parent - shared);
    numbers.push_back(
        add({parent, static_cast<uint32_t>(both), static_cast<uint32_t>(from.value())}));
  }
}

ContextNumbers add_contexts(const ProcessReport& own, const Numbering& numbering,
                            ContextTable& table) {
  ContextNumbers result;
  for (const auto& [thread, nodes] : own.paths) {
    std::vector<uint32_t>& numbers = result[thread];
    numbers.assign(nodes.size(), kNone);
    for (size_t i = 1; i < nodes.size(); ++i) {
      const NamedNode& node = nodes[i];
      if (node.function == kNone) continue;
      const CodePlace& function = own.functions.list[node.function];
      const uint32_t site = node.call_site == kNone
                                ? kNone
                                : numbering.call_sites.at(own.call_sites.list[node.call_site]);
      numbers[i] = table.add({numbers[node.parent], numbering.functions.at(function), site});
    }
  }
  return result;
}

}  // namespace tracing
}  // namespace rubato
