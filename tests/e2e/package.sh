#!/usr/bin/env bash
# Packages work where they are put: package.sh tarball|deb BUILD_DIR
#   tarball   unpacked into a directory that it was not made for, and with its libraries: lists platforms, traces, replays
#   deb       one for each MPI library, each of which works without the other; as lintian wants them; installed, used,
#             removed (root only)
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

# pack GENERATOR: makes the packages, which have the same bytes each time; sets packages to their names.
export SOURCE_DATE_EPOCH=1700000000
pack() {
  local directory
  for directory in before packages; do
    (cd "$build" && cpack -G "$1" -B "$work/$directory") >cpack.txt 2>&1 || fail "cpack: $(tail -5 cpack.txt)"
    rm -rf "$directory/_CPack_Packages"
  done
  diff -r before packages || fail "two packages with the same SOURCE_DATE_EPOCH differ"
  packages=(packages/*)
  [[ -f ${packages[0]} ]] || fail "cpack -G $1 made ${packages[*]}"
}

# The MPI libraries that this build has a tracer for.
flavours() {
  local tracer
  for tracer in "$build"/lib*/rubato/librubato-trace-*.so "$build"/lib/*/rubato/librubato-trace-*.so; do
    [[ -e $tracer ]] || continue
    tracer=${tracer##*trace-}
    echo "${tracer%.so}"
  done | sort -u
}

# try RUBATO FLAVOUR...: what a new user does with each of these MPI libraries.
try() {
  local rubato=$1 flavour compiler launcher
  shift
  [[ $("$rubato" platforms) == *infiniband-hdr* ]] || fail "$rubato platforms: $("$rubato" platforms)"
  "$rubato" help units | grep -q GiB || fail "$rubato help units"
  for flavour in "$@"; do
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
  tar -xzf "${packages[0]}" -C 'else where' --strip-components 1
  # Moved once more, and called by a link.
  mv 'else where' moved
  ln -s moved/bin/rubato rubato
  # Its own libraries are not taken from the system.
  ldd moved/bin/rubato >ldd.txt
  for library in libopen-trace-format2 libfmt libboost_program_options libpugixml; do
    grep -q "$library.*$work/moved/" ldd.txt || fail "$library is not that of the tarball: $(cat ldd.txt)"
  done
  gzip -dc moved/share/man/man1/rubato-trace.1.gz | grep -q 'rubato trace' || fail "no manual page"
  mapfile -t all < <(flavours)
  try "$work/rubato" "${all[@]}"
  ;;
deb)
  command -v dpkg-shlibdeps >/dev/null || skip "there is no dpkg-dev"
  pack DEB
  mapfile -t all < <(flavours)
  # wants PACKAGE: what it depends on and recommends.
  wants() { dpkg-deb -f "$(echo packages/"$1"_*.deb)" Depends Recommends; }
  version=$(dpkg-deb -f "$(echo packages/rubato_*.deb)" Version)
  wants rubato >wants.txt
  grep -q 'Depends:.*libopen-trace-format2.*libjs-chart.js\|Depends:.*libjs-chart.js.*libopen-trace-format2' wants.txt ||
    fail "rubato: $(cat wants.txt)"
  grep -q 'Recommends:.*rubato-openmpi | rubato-mpich' wants.txt || fail "rubato: $(cat wants.txt)"
  ! grep -E '^Depends:.*(mpi|mpich)' wants.txt || fail "the tool depends on an MPI library"
  for each in "${packages[@]}"; do dpkg-deb -c "$each" >"$(basename "${each%%_*}").list"; done
  declare -A library=([openmpi]=libopenmpi3 [mpich]=libmpich12) launcher=([openmpi]=openmpi-bin [mpich]=mpich)
  for flavour in "${all[@]}"; do
    wants "rubato-$flavour" >wants.txt
    for words in "Depends:.*rubato (= $version)" "Depends:.*${library[$flavour]}" "Recommends: ${launcher[$flavour]}\$"; do
      grep -q "$words" wants.txt || fail "rubato-$flavour lacks $words: $(cat wants.txt)"
    done
    for other in "${all[@]}"; do
      [[ $other != "$flavour" ]] || continue
      ! grep -E "^Depends:.*${library[$other]}" wants.txt || fail "rubato-$flavour depends on $other"
      ! grep -E "(trace|mpi|calibrate)-$other" "rubato-$flavour.list" ||
        fail "rubato-$flavour contains parts for $other"
    done
    for file in librubato-trace-$flavour.so librubato-mpi-$flavour.so rubato-calibrate-$flavour; do
      grep -q "/$file\$" "rubato-$flavour.list" || fail "rubato-$flavour lacks $file"
      ! grep -q "/$file\$" rubato.list || fail "rubato contains $file"
    done
  done
  ((${#packages[@]} == ${#all[@]} + 1)) || fail "packages: ${packages[*]}"
  # Its changelog has its version.
  dpkg-deb --fsys-tarfile packages/rubato_*.deb | tar -xO ./usr/share/doc/rubato/changelog.Debian.gz | gzip -dc | head -1 >changelog.txt
  grep -qF "rubato ($version) " changelog.txt || fail "version $version, but the changelog begins with $(cat changelog.txt)"
  command -v lintian >/dev/null || skip "there is no lintian"
  lintian --allow-root --fail-on error,warning "${packages[@]}" >lintian.txt 2>&1 || fail "lintian: $(cat lintian.txt)"
  ((EUID == 0)) || skip "only root can install ${packages[*]}"
  ! dpkg-query -s rubato >/dev/null 2>&1 || skip "rubato is installed here"
  # The tool with one MPI library at a time.
  remove='dpkg --purge rubato-openmpi rubato-mpich rubato'
  for flavour in "${all[@]}"; do
    dpkg -i packages/rubato_*.deb packages/rubato-"$flavour"_*.deb >dpkg.txt 2>&1 || fail "dpkg -i: $(cat dpkg.txt)"
    [[ $(/usr/bin/rubato -V) == "rubato ${version%-*}" ]] || fail "version: $(/usr/bin/rubato -V)"
    try /usr/bin/rubato "$flavour"
    dpkg --purge "rubato-$flavour" rubato >dpkg.txt 2>&1 || fail "dpkg --purge: $(cat dpkg.txt)"
  done
  remove=:
  left=$(find /usr/bin/rubato /usr/lib/rubato /usr/share/rubato /usr/libexec/rubato 2>/dev/null) || true
  [[ -z $left ]] || fail "left behind: $left"
  ;;
*) fail "usage: package.sh tarball|deb BUILD_DIR" ;;
esac
echo "PASS package ($kind)"
