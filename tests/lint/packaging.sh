#!/usr/bin/env bash
# Recipes, the container file and job scripts of share/ are well formed, name one version, and use commands and options
# that exist: packaging.sh RUBATO
set -uo pipefail
rubato=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
bad=0
complain() {
  echo "$*"
  bad=1
}

share/packaging/release --numbers || bad=1
for recipe in share/packaging/spack/package.py share/packaging/easybuild/Rubato.eb; do
  /usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$recipe" || bad=1
done
# Each logical line is an instruction; what is copied from a stage names one before it.
/usr/bin/python3 - share/packaging/Containerfile <<'PYTHON' || bad=1
import re, sys
text = open(sys.argv[1]).read()
lines = re.sub(r"\\\n", " ", "".join(l for l in text.splitlines(True) if not l.startswith("#"))).splitlines()
stages, first = set(), None
for line in filter(str.strip, lines):
    word, rest = line.split(None, 1)
    first = first or word
    assert word in {"FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT", "CMD", "ENV", "ARG", "LABEL", "USER"}, line
    if found := re.search(r" AS (\w+)$", line):
        stages.add(found[1])
    if found := re.search(r"--from=(\w+)", line):
        assert found[1] in stages, line
    assert rest.count("'") % 2 == 0 and rest.count('"') % 2 == 0, line
assert first == "FROM", first
PYTHON

# A release with placeholders for addresses is not ready, and the files that have them are named.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/share" && cp -r share/packaging "$copy/share" && cp CMakeLists.txt "$copy"
grep -rl 'rubato[.]example' "$copy" | xargs -r sed -i 's/rubato[.]example/rubato.real/'
"$copy/share/packaging/release" --addresses || complain "release finds placeholders where there are none"
echo 'homepage = "https://rubato''.example.org"' >>"$copy/share/packaging/spack/package.py"
said=$("$copy/share/packaging/release" --addresses) && complain "release takes a placeholder for an address"
grep -q 'in: share/packaging/spack/package.py$' <<<"$said" || complain "release does not name the file: $said"

# Words 'rubato COMMAND ... --option' of scripts and documents that a stranger copies.
while IFS= read -r line; do
  command=$(sed -E 's/.*rubato ([a-z]+) .*/\1/' <<<"$line")
  offered=$("$rubato" help --shells "$command" 2>/dev/null | cut -f1)
  [[ -n $offered ]] || complain "there is no rubato $command: $line"
  for option in $(sed -E 's/.*rubato [a-z]+ //; s/ "\$@".*//' <<<"$line" | grep -oE '(^| )--?[a-z][a-z-]*'); do
    grep -qx -- "$option" <<<"$offered" || complain "rubato $command has no $option: $line"
  done
done < <(grep -hE '^[^#]*rubato [a-z]+ ' share/examples/jobs/*.sh)
for script in share/examples/jobs/*.sh; do
  for command in trace calibrate replay; do
    grep -q "rubato $command " "$script" || complain "$script does not $command"
  done
  for mpi in openmpi mpich; do
    grep -q "$mpi" "$script" || complain "$script does not know $mpi"
  done
done
if command -v luac >/dev/null; then luac -p share/examples/modules/rubato.lua || bad=1; fi
exit "$bad"
