#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace rubato {

/// The numbers of processes on which collectives are measured, out of `ranks`: 2, 3, 4, 6, 8, 12,
/// ... and all, so that one launch shows their growth.
std::vector<int> process_counts(int ranks);

/// Their payloads, in whole doubles: 8 bytes, then by factors of four (in a quick run eight) up to
/// 1 MiB or `max_bytes`.
std::vector<size_t> collective_lengths(size_t max_bytes, bool quick);

/// The order in which ranks fill communicators: one of each node, then a second one of each, so
/// that the members of small communicators are as far apart as those of large ones.
std::vector<int> across_nodes(const std::vector<int>& node_of_rank);

/// The least payload, to `unit` bytes, from which on `held` is true for every larger power of two
/// up to `max_bytes`; absent if it is false for the largest, 0 if it is true for all.
std::optional<size_t> find_held_from(const std::function<bool(size_t)>& held, size_t unit,
                                     size_t max_bytes);

}  // namespace rubato
