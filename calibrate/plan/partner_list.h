#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// Sender and receiver of the messages of a program: each pair once, in ascending order.
using PartnerList = std::vector<std::pair<int, int>>;

/// The pairs in a file: the rows `matrix_request` that `rubato profile --csv` writes, or lines with
/// the numbers of two ranks. Errors: InputError for a file that cannot be read or has no pairs, and
/// for a rank that is not below `ranks`.
PartnerList read_partner_list(const std::string& file, int ranks);

}  // namespace rubato
