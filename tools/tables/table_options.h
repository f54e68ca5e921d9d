#pragma once

namespace rubato {

/// How tables for a terminal are written.
struct TableOptions {
  int width = 100;        ///< columns of the page
  bool per_rank = false;  ///< every rank, call and pair, however many
};

}  // namespace rubato
