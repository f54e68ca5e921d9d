#!/usr/bin/env bash
# The lines of README's Installation, as they stand there:
#   readme_install.sh lines BUILD_DIR   what they would compile is what was compiled in BUILD_DIR, which they install
#   readme_install.sh build             a copy of the sources is built by them, with make and without ccache
# Then a program is built on the installation (library.sh).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-readme.XXXXXX")
trap 'if [[ $? = 0 ]]; then rm -rf "$work"; fi' EXIT
fail() {
  echo "FAIL readme_install: $*" >&2
  exit 1
}
# shellcheck source=share/setup.sh
. "$root/share/setup.sh"
((${#readme_lines[@]} == 2)) || fail "README has ${#readme_lines[@]} lines: ${readme_lines[*]}"

# Packages are installed when the process that holds their locks has ended; another failure is one. `apt-get` fails with
# each line of `says`, in turn, or succeeds if that is a warning.
mkdir "$work/fake"
printf '#!/bin/sh\nexec "$@"\n' >"$work/fake/sudo"
cat >"$work/fake/apt-get" <<APT
#!/bin/sh
echo "\$*" >>"$work/asked"
[ -s "$work/says" ] || exit 0
said=\$(head -n 1 "$work/says") && sed -i 1d "$work/says"
echo "\$said" >&2
case \$said in W:*) exit 0 ;; esac
exit 100
APT
chmod +x "$work/fake/sudo" "$work/fake/apt-get"
lock_pause=0
with_fake() { PATH=$work/fake:$PATH install_missing no-such-package >"$work/said" 2>&1; }
printf 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\nE: Could not get lock /var/lib/dpkg/lock-frontend - open (11: Resource temporarily unavailable)\nW: Failed to fetch one\n' >"$work/says"
with_fake || fail "$(cat "$work/said")"
[[ $(wc -l <"$work/asked") == 4 && $(tail -n 1 "$work/asked") == *"install -y"*no-such-package ]] || fail "$(cat "$work/asked")"
grep -qx 'W: Failed to fetch one' "$work/said" || fail "a warning is lost: $(cat "$work/said")"
grep -q '^Another process installs packages; waiting for it: .* process 7' "$work/said" || fail "$(cat "$work/said")"
for failure in 'Unable to locate package no-such-package' 'Could not open lock file /var/lib/dpkg/lock - open (30: Read-only file system)' \
  'Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?' \
  'Unable to lock directory /var/lib/apt/lists/'; do
  printf 'E: %s\n' "$failure" >"$work/says"
  with_fake && fail "a failure of apt-get is none: $failure"
  grep -qFx "E: $failure" "$work/said" || fail "$failure: $(cat "$work/said")"
done

# A copy, in which the lines may write build/; ~ is another directory, too.
mkdir "$work/copy" "$work/home"
tar -C "$root" --exclude ./.git --exclude './build*' --exclude '*.otf2dir' --exclude './rubato-quickstart*' -cf - . |
  tar -C "$work/copy" -xf -
cd "$work/copy"
type_line() { HOME=$work/home bash -euc "$1" >"$work/log.txt" 2>&1 || fail "$1: $(tail -n 20 "$work/log.txt")"; }

case $1 in
build)
  unset CMAKE_GENERATOR CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  type_line "${readme_lines[0]}"
  [[ ! -e build/bin/rubato-unit ]] || fail "tests are built"
  ;;
lines)
  build=$2
  # CMake settings from the environment are those of BUILD_DIR.
  for name in CMAKE_GENERATOR CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER; do
    export "$name=$(sed -n "s/^$name:[A-Z]*=//p" "$build/CMakeCache.txt")"
  done
  type_line "${readme_lines[0]%%&&*}"
  # Each file of the product is compiled as in BUILD_DIR, except for warnings as errors.
  /usr/bin/python3 - "$PWD" "$root" "$build" <<'PYTHON'
import json, sys
copy, root, build = sys.argv[1:]
def commands(directory, source):
    words = {}
    for entry in json.load(open(directory + "/compile_commands.json")):
        line = entry["command"].replace(directory, "BUILD").replace(source, "SOURCE")
        file = line.split()[line.split().index("-o") + 1]
        words[entry["directory"].replace(directory, "BUILD") + " " + file] = line.replace(" -Werror", "")
    return words
readme, tested = commands(copy + "/build", copy), commands(build, root)
differ = [line for file, line in readme.items() if tested.get(file) != line]
assert len(readme) > 100, len(readme)
assert not differ, f"{len(differ)} files are compiled otherwise, such as by\n{differ[0]}"
assert not any("Catch2" in line or "rubato-unit" in line for line in readme.values()), "tests are built"
PYTHON
  rm -rf build
  ln -s "$build" build
  ;;
*) fail "usage: readme_install.sh lines BUILD_DIR | build" ;;
esac
build/bin/rubato -V >/dev/null || fail "build/bin/rubato does not work"
type_line "${readme_lines[1]}"
"$root/tests/e2e/library.sh" "$work/home/rubato" || fail "library.sh"
echo "PASS readme_install ($1)"
