#!/usr/bin/env bash
# Help: --help fits into 80 columns, each command has a manual page with all of its options, topics have texts, and
# shells complete words: help.sh RUBATO
set -uo pipefail
rubato=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$(cd "$(dirname "$rubato")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
complain() {
  echo "$*"
  bad=1
}

# The version is defined in one place.
version=$(sed -n 's/^project(rubato VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for option in -V --version; do
  [[ $("$rubato" "$option") == "rubato $version" ]] || complain "$option: $("$rubato" "$option")"
done

mapfile -t commands < <("$rubato" help --shells | sed -n 's/^command	\([^	]*\).*/\1/p')
((${#commands[@]} >= 16)) || complain "only ${#commands[@]} commands"
for command in "" "${commands[@]}"; do
  "$rubato" ${command:+"$command"} --help >help.txt || complain "$command --help: exit code $?"
  wide=$(awk 'length > 80' help.txt)
  [[ -z $wide ]] || complain "$command --help is wider than 80 columns: $wide"
  page=$prefix/share/man/man1/rubato${command:+-$command}.1.gz
  gzip -dc "$page" >page.1 || complain "there is no manual page $page"
  sections=$(grep '^\.SH' page.1)
  for section in EXAMPLES 'EXIT STATUS' ENVIRONMENT FILES; do
    grep -qx ".SH $section" <<<"$sections" || complain "$page lacks $section"
  done
  [[ -z $command ]] && continue
  # Every option of the help is in the page and is offered to shells.
  sed 's/\\-/-/g; s/\\f[BIR]//g' page.1 >page.txt
  "$rubato" help --shells "$command" | cut -f1 >offered.txt
  for option in $(grep -oE '^  (-. \[ )?--[a-z0-9-]+' help.txt | grep -oE -- '--[a-z0-9-]+'); do
    grep -qE -- "^(-., )?$option( |$)" page.txt || complain "$page lacks $option"
    grep -qx -- "$option" offered.txt || complain "shells are not offered $command $option"
  done
  if command -v groff >/dev/null; then
    warnings=$(groff -man -ww -Tascii page.1 2>&1 >/dev/null)
    [[ -z $warnings ]] || complain "$page: $warnings"
  fi
done

for topic in scenarios platforms units plan; do
  "$rubato" help "$topic" >topic.txt || complain "help $topic: exit code $?"
  (($(wc -l <topic.txt) > 10)) || complain "help $topic: $(cat topic.txt)"
  [[ -z $(awk 'length > 80' topic.txt) ]] || complain "help $topic is wider than 80 columns"
done
# Scenarios in the text are ones that can be parsed (the archive is not there: exit code 1, not 2).
for scenario in $(sed -n '/^Examples/,$s/.*--on \(.*\)/\1/p' "$root/share/help/scenarios.txt" | tr -d "'" | tr ' ' '\n' |
  grep -vE '^(--on|cluster)'); do
  [[ $("$rubato" replay nothing.otf2dir --on "$scenario" 2>&1) == *nothing.otf2dir* ]] || complain "help scenarios: $scenario"
done
[[ $("$rubato" help scenaros 2>&1) == *"did you mean 'scenarios'"* ]] || complain "no nearest topic"

# completes 'LINE' WORD: the completion of bash offers WORD for the line up to its end.
cat >complete.sh <<'END'
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_rubato "$3" "" ""
printf '%s\n' "${COMPREPLY[@]}"
END
completes() {
  bash complete.sh "$root/share/completions/rubato.bash" "$1" "$rubato" >offers.txt 2>errors.txt
  grep -qxF -- "$2" offers.txt || complain "'$1' does not offer '$2': $(head -5 offers.txt errors.txt)"
}
: >cluster.toml
completes "rubato re" replay
completes "rubato replay run --js" --json
completes "mpirun -n 2 rubato trace --clo" --clock-domain
completes "rubato trace --clock mo" monotonic
completes "rubato replay run --on infini" infiniband-hdr
completes "rubato replay run --on clu" cluster.toml
completes "rubato replay run --on cluster.toml:lat" latency
completes "rubato replay run --on cluster.toml:latency*2,allr" "latency*2,allreduce"
completes "rubato platforms eth" ethernet-10g
completes "rubato help sc" scenarios
if command -v zsh >/dev/null; then
  zsh -n "$root/share/completions/_rubato" || complain "the completion of zsh is no script"
  # compadd and _describe print what they would offer.
  cat >complete.zsh <<'END'
_describe() { print -l -- ${(P)2} }
compadd() { print -l -- "$@" }
compset() { }
_files() { }
words=($2 replay run --on cluster.toml:lat) CURRENT=5 PREFIX=cluster.toml:lat
source $1
words=($2 re) CURRENT=2 PREFIX=re
_rubato
END
  zsh -f complete.zsh "$root/share/completions/_rubato" "$rubato" >zsh.txt 2>&1
  grep -qx latency zsh.txt && grep -q '^replay:play' zsh.txt || complain "zsh: $(head zsh.txt)"
fi
exit "$bad"
