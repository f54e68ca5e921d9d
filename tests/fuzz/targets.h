// Inputs of Rubato as targets of fuzzing: bytes in, and nothing but an answer or an InputError out.
#pragma once

#include <string>
#include <vector>

struct FuzzTarget {
  const char* name;
  /// Reads an input. Throws what is no InputError and no UsageError, and what breaks a promise: a
  /// message of more than one line, a result that is not finite.
  void (*read)(const std::string& bytes);
  /// Inputs to begin with, made by us. `share` is the folder of that name.
  std::vector<std::string> (*seeds)(const std::string& share);
  /// Words that mutations insert into inputs.
  std::vector<std::string> words;
  bool is_slow;  ///< writes files for each input
};

const std::vector<FuzzTarget>& fuzz_targets();
/// Throws for an unknown name.
const FuzzTarget& fuzz_target(const std::string& name);
