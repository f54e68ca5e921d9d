#!/usr/bin/env bash
# Numbers with a decimal point are written and read by models/base/number_text.h, std::to_chars or fmt: printf, strtod and
# streams take a comma in many locales, and the tracer and the library run in the programs of others.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# In formats of printf and scanf, everywhere; by functions, in code that others load.
found=$(
  grep -rnE --include='*.h' --include='*.cc' '"[^"]*%[-+ #0-9.*]*[lL]?[aefgAEFG]\b' models replay tracer calibrate tools
  grep -rnE --include='*.h' --include='*.cc' '\b(strtod|strtof|strtold|stod|stof|stold|atof) ?\(' models replay tracer
  grep -rnE --include='*.h' --include='*.cc' '\.precision\(|setprecision|std::(fixed|scientific)\b' models replay tracer
)
found=$(grep -vE '^[^:]*:[0-9]*: *//' <<<"$found")
[[ -z $found ]] && exit 0
echo "numbers that depend on the locale; use models/base/number_text.h:"
echo "$found"
exit 1
