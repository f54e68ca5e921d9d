#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// libotf2 gives each archive a number that no other one has, of the time and the process. Where
/// the same bytes are asked for each time (models/base/source_date.h), the closed archive whose
/// anchor file is `anchor` gets one that follows from its definitions, in place of `number`. False
/// when the anchor cannot be read or written.
bool make_number_reproducible(const std::string& anchor, uint64_t number);

}  // namespace rubato
