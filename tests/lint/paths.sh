#!/usr/bin/env bash
# Source files and documents that comments, documents and messages name exist.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
bad=0
named='(^|[^A-Za-z0-9_./{}$-])(tracer|replay|models|calibrate|tools|tests|share)/[A-Za-z0-9_/-]+\.(h|cc|cmake|cmake\.in|csv|c|f90|map|sh|py|md|toml|txt)\b'
while IFS=: read -r place line path; do
  path=${path##[^a-z]}
  # Generated; placeholders; files that a reader of the examples would write.
  [[ -e $path || $path == */version.h || $path =~ TOPIC|FOLDER|NAME || $place == share/examples/* ]] && continue
  echo "$place:$line: there is no $path"
  bad=1
done < <(grep -rnIoE "$named" models replay tracer calibrate tools share tests README.md .ci CMakeLists.txt)
exit "$bad"
