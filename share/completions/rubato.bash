# Completes commands, options, platforms and scenarios of rubato in bash. All completions come from
# the command itself (rubato help --shells). shellcheck shell=bash

# Offers the words on standard input that begin with $1. If readline breaks words at ":" or "=", it
# expects only the part after the last one.
_rubato_offer() {
  local begun=$1 word
  local kept=${begun%"${begun##*[:=]}"}
  [[ $kept == *: && $COMP_WORDBREAKS != *:* || $kept == *= && $COMP_WORDBREAKS != *=* ]] && kept=
  while IFS= read -r word; do
    [[ $word == "$begun"* ]] && COMPREPLY+=("${word#"$kept"}")
  done
}

# _rubato_scenario BEGUN: the machine before a ':', the keys of changes behind it.
_rubato_scenario() {
  local begun=$1 rubato=$2
  compopt -o nospace 2>/dev/null
  if [[ $begun == *:* ]]; then
    local before=${begun%"${begun##*[:,]}"}
    _rubato_offer "$begun" < <("$rubato" help --shells --on 2>/dev/null |
      sed -n "s/^key	//p" | while IFS= read -r key; do echo "$before$key"; done)
  else
    _rubato_offer "$begun" < <(
      "$rubato" help --shells --on 2>/dev/null | sed -n "s/^machine	//p"
      compgen -f -X '!*.toml' -- "$begun"
    )
  fi
}

_rubato() {
  COMPREPLY=()
  # Split the line at blanks again: readline has split it also at ':' and '='.
  local line=${COMP_LINE:0:COMP_POINT} words rubato=${1/#\~\//$HOME/} command i
  read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  # Skip mpirun and its options.
  for ((i = 0; i < ${#words[@]}; i++)); do [[ ${words[i]##*/} == rubato ]] && break; done
  words=("${words[@]:i}")
  local last=$((${#words[@]} - 1))
  ((last > 0)) || return 0
  local begun=${words[last]} before=${words[last - 1]}
  command=${words[1]}
  if ((last == 1)); then
    _rubato_offer "$begun" < <(
      "$rubato" help --shells 2>/dev/null | sed -n 's/^command	\([^	]*\).*/\1/p'
      printf '%s\n' --help --version
    )
    return
  fi
  case $command in
  help)
    _rubato_offer "$begun" < <("$rubato" help --shells 2>/dev/null | cut -f2)
    return
    ;;
  platforms)
    [[ $begun == -* ]] || _rubato_offer "$begun" < <("$rubato" help --shells --on 2>/dev/null |
      sed -n 's/^machine	//p' | grep -vE '^(measured|undisturbed|loggps)$')
    ;;
  esac
  if [[ $before == --on ]]; then
    _rubato_scenario "$begun" "$rubato"
    return
  fi
  local options value
  options=$("$rubato" help --shells "$command" 2>/dev/null) || return 0
  value=$(awk -F'\t' -v name="$before" '$1 == name { print $2 }' <<<"$options")
  if [[ $value == *"|"* ]]; then # one of several words
    _rubato_offer "$begun" < <(tr '|' '\n' <<<"$value")
  elif [[ $begun == -* ]]; then
    _rubato_offer "$begun" < <(cut -f1 <<<"$options")
  elif [[ -z $value || $value == FILE || $value == DIR ]]; then
    ((${#COMPREPLY[@]} > 0)) || compopt -o default 2>/dev/null
  fi
}
complete -F _rubato rubato
