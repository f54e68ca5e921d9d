#!/usr/bin/env bash
# Packages work where they are put: package.sh tarball|deb BUILD_DIR
#   tarball   unpacked into a directory that it was not made for, and with its libraries: lists platforms, traces, replays
#   deb       is as lintian wants it; installed, used, removed (root only)
set -euo pipefail
kind=$1
build=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-package.XXXXXX")
remove=:
at_exit() {
  local rc=$?
  $remove
  cd /
  if ((rc == 0 || rc == 77)); then rm -rf "$work"; fi
}
trap at_exit EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
fail() {
  echo "FAIL package ($kind): $*" >&2
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
# Nothing of the build may be needed: it is not to be found by accident either.
unset LD_LIBRARY_PATH

# pack GENERATOR: makes the package, which has the same bytes each time; sets package to its name.
export SOURCE_DATE_EPOCH=1700000000
pack() {
  local directory
  for directory in before packages; do
    (cd "$build" && cpack -G "$1" -B "$work/$directory") >cpack.txt 2>&1 || fail "cpack: $(tail -5 cpack.txt)"
    rm -rf "$directory/_CPack_Packages"
  done
  cmp before/* packages/* || fail "two packages with the same SOURCE_DATE_EPOCH differ"
  package=$(echo packages/*)
  [[ -f $package ]] || fail "cpack -G $1 made $package"
}

# try RUBATO: what a new user does with each MPI that there is a tracer for.
try() {
  local rubato=$1 tracer flavour compiler launcher
  [[ $("$rubato" platforms) == *infiniband-hdr* ]] || fail "$rubato platforms: $("$rubato" platforms)"
  "$rubato" help units | grep -q GiB || fail "$rubato help units"
  for tracer in "$build"/lib*/rubato/librubato-trace-*.so "$build"/lib/*/rubato/librubato-trace-*.so; do
    [[ -e $tracer ]] || continue
    flavour=${tracer##*trace-} flavour=${flavour%.so}
    compiler=mpicc.$flavour launcher=mpiexec.$flavour
    command -v "$compiler" >/dev/null || compiler=mpicc launcher=mpiexec
    "$compiler" -O1 -w -o "exchange_$flavour" "$root/tests/fixture/exchange.c"
    "$launcher" -n 2 "$rubato" trace -o "$flavour.otf2dir" "./exchange_$flavour" pingpong 64 100 3 >trace.txt 2>&1 || fail "trace: $(cat trace.txt)"
    "$rubato" replay "$flavour.otf2dir" --on infiniband-hdr --html "$flavour.html" >replay.txt 2>&1 || fail "replay: $(cat replay.txt)"
    grep -q '^infiniband-hdr ' replay.txt || fail "no row of infiniband-hdr: $(cat replay.txt)"
    # The page has Chart.js inside.
    (($(stat -c %s "$flavour.html") > 200000)) || fail "$flavour.html: $(stat -c %s "$flavour.html") B"
    # The calibrator starts and refuses too few ranks.
    "$launcher" -n 1 "$rubato" calibrate -o none.toml >calibrate.txt 2>&1 && fail "calibrate with one rank"
    grep -q '2 ranks' calibrate.txt || fail "calibrate: $(cat calibrate.txt)"
  done
}

case $kind in
tarball)
  pack TGZ
  mkdir 'else where'
  tar -xzf "$package" -C 'else where' --strip-components 1
  # Moved once more, and called by a link.
  mv 'else where' moved
  ln -s moved/bin/rubato rubato
  # Its own libraries are not taken from the system.
  ldd moved/bin/rubato >ldd.txt
  for library in libopen-trace-format2 libfmt libboost_program_options libpugixml; do
    grep -q "$library.*$work/moved/" ldd.txt || fail "$library is not that of the tarball: $(cat ldd.txt)"
  done
  gzip -dc moved/share/man/man1/rubato-trace.1.gz | grep -q 'rubato trace' || fail "no manual page"
  try "$work/rubato"
  ;;
deb)
  command -v lintian >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "there is no lintian or no dpkg-dev"
  pack DEB
  lintian --allow-root --fail-on error,warning "$package" >lintian.txt 2>&1 || fail "lintian: $(cat lintian.txt)"
  ((EUID == 0)) || skip "only root can install $package"
  ! dpkg-query -s rubato >/dev/null 2>&1 || skip "rubato is installed here"
  # Its contents, and the version in its changelog.
  version=$(dpkg-deb -f "$package" Version)
  dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/rubato/changelog.Debian.gz | gzip -dc | head -1 >changelog.txt
  grep -qF "rubato ($version) " changelog.txt || fail "version $version, but the changelog begins with $(cat changelog.txt)"
  dpkg-deb -f "$package" Depends >depends.txt
  grep -q 'libopen-trace-format2' depends.txt || fail "depends on $(cat depends.txt)"
  remove='dpkg --purge rubato'
  dpkg -i "$package" >dpkg.txt 2>&1 || fail "dpkg -i: $(cat dpkg.txt)"
  [[ $(/usr/bin/rubato -V) == "rubato ${version%-*}" ]] || fail "version: $(/usr/bin/rubato -V)"
  try /usr/bin/rubato
  dpkg --purge rubato >dpkg.txt 2>&1 || fail "dpkg --purge: $(cat dpkg.txt)"
  remove=:
  left=$(find /usr/bin/rubato /usr/lib/rubato /usr/share/rubato /usr/libexec/rubato 2>/dev/null) || true
  [[ -z $left ]] || fail "left behind: $left"
  ;;
*) fail "usage: package.sh tarball|deb BUILD_DIR" ;;
esac
echo "PASS package ($kind)"
