#!/usr/bin/env bash
# Checks the size of the product against lines.txt, a line "FOLDER LINES" for each folder with C++ code: no folder may
# grow beyond its number, and a number more than 100 lines too high is to be lowered. A commit that needs more lines
# changes the number, and its message gives the reason. Folders have at most 25 files.
#
#   size.sh --write   writes the present numbers
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
table=tests/lint/lines.txt
slack=100 most_files=25
bad=0

# Prints "FOLDER LINES" of the present code.
present() {
  local folder
  find tracer replay models calibrate tools -type d | LC_ALL=C sort | while read -r folder; do
    lines=$(find "$folder" -maxdepth 1 \( -name '*.h' -o -name '*.cc' -o -name '*.c' \) -exec cat {} + | wc -l)
    ((lines == 0)) || echo "$folder $lines"
  done
}

if [[ ${1:-} == --write ]]; then
  present >"$table"
  exit
fi

complain() {
  echo "$1"
  bad=1
}

declare -A limit
while read -r folder lines; do limit[$folder]=$lines; done <"$table"
while read -r folder lines; do
  most=${limit[$folder]:-0}
  unset "limit[$folder]"
  if ((lines > most)); then
    complain "$folder has $lines lines, $table allows $most: take lines out, or write the new number and give the reason"
  elif ((lines < most - slack)); then
    complain "$folder has $lines lines, $table says $most: lower the number (tests/lint/size.sh --write)"
  fi
done < <(present)
for folder in "${!limit[@]}"; do complain "$folder is in $table, but has no code"; done

while read -r folder; do
  files=$(find "$folder" -maxdepth 1 -type f ! -name CMakeLists.txt | wc -l)
  ((files <= most_files)) || complain "$folder has $files files, more than $most_files: divide it"
done < <(find tracer replay models calibrate tools tests share -type d)
exit $bad
