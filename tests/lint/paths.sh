#!/usr/bin/env bash
# Files that documents, comments and messages name exist.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
bad=0
while IFS=: read -r place line path; do
  [[ -e $path || $path == */version.h || $path =~ TOPIC|FOLDER|NAME || $place == share/examples/* ]] && continue
  echo "$place:$line: there is no $path"
  bad=1
done < <(git ls-files 2>/dev/null | grep -E '\.(md|h|cc|sh|py|txt|cmake|toml)$|^(share|tests)/[^.]*$' |
  xargs grep -nIoE '(^|[^A-Za-z0-9_./{}$-])(tracer|replay|models|calibrate|tools|tests|share)/[A-Za-z0-9_/-]+\.(h|cc|sh|py|md|toml|txt)\b' |
  sed -E 's/^([^:]+:[0-9]+:)[^a-z]?/\1/')
exit "$bad"
