#!/usr/bin/env bash
# Numbers with a decimal point are written and read by models/base/number_text.h, std::to_chars or fmt: printf, strtod and
# streams take a comma in many locales, and the tracer and the library run in the programs of others.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# In formats of printf and scanf, everywhere; by functions, in code that others load.
found=$(
  grep -rnE --include='*.h' --include='*.cc' '"[^"]*%[-+#0-9.*]*[lL]?[aefgAEFG]' models replay tracer calibrate tools
  grep -rnE --include='*.h' --include='*.cc' '\b(strtod|strtof|strtold|stod|stof|stold|atof) ?\(' models replay tracer
  grep -rnE --include='*.h' --include='*.cc' '\.precision\(|setprecision|std::(fixed|scientific)\b' models replay tracer
  # std::to_string, which has six decimals, too, of a name whose last declaration before is a double.
  grep -rnoE --include='*.h' --include='*.cc' 'std::to_string\(\w+\)' models replay tracer calibrate tools |
    while IFS=: read -r file line call; do
      name=${call#*\(}
      name=${name%)}
      head -n "$line" "$file" | grep -oE "[A-Za-z0-9_>]+&? $name( =|;|,|\)| :|\{)|auto&* \[[^]]*\b$name\b" |
        grep -v '^return' | tail -n 1 | grep -q '^double ' && echo "$file:$line:$call"
    done
)
found=$(grep -vE '^[^:]*:[0-9]*: *//' <<<"$found")
[[ -z $found ]] && exit 0
echo "numbers that depend on the locale; use models/base/number_text.h:"
echo "$found"
exit 1
