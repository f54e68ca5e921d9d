#pragma once

#include <string>

// Expected values of figures. All are printed at the end, one per line with yes or NO.

/// `value` should be at most `most`.
void expect_at_most(const std::string& what, double value, double most);

/// `value` should be at least `least`; as it is of this machine (calls a second), it does not
/// count for print_bars().
void expect_of_this_machine(const std::string& what, double value, double least);

/// Prints them; false where one that counts was missed.
bool print_bars();
