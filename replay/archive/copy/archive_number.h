#pragma once

#include <cstdint>
#include <string>

namespace rubato {

/// libotf2 gives each archive a unique number, from the time and the process. If reproducible
/// output is requested (models/base/source_date.h), the closed archive whose anchor file is
/// `anchor` gets a number derived from its definitions, in place of `number`. False when the anchor
/// cannot be read or written.
bool make_number_reproducible(const std::string& anchor, uint64_t number);

}  // namespace rubato
