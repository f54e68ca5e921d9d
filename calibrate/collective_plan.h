#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace rubato {

/// On how many of `ranks` processes collectives are measured: 2, 3, 4, 6, 8, 12, ... and all, so
/// that one launch shows how they grow.
std::vector<int> process_counts(int ranks);

/// Their payloads, whole doubles: 8 bytes, then four times as much (in a quick run eight times) up
/// to 1 MiB or `max_bytes`.
std::vector<size_t> collective_lengths(size_t max_bytes, bool quick);

/// Ranks in the order in which communicators of a part of them are filled: one of each node, then a
/// second one of each, so that small ones have their members as far apart as large ones do.
std::vector<int> across_nodes(const std::vector<int>& node_of_rank);

/// The payload from which `held` holds for every larger power of two up to `max_bytes`, to `unit`
/// bytes; absent when it does not hold for the largest. 0 when it holds for all.
std::optional<size_t> find_held_from(const std::function<bool(size_t)>& held, size_t unit,
                                     size_t max_bytes);

}  // namespace rubato
