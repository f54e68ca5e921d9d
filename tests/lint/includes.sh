#!/usr/bin/env bash
# Checks the includes between folders against the table on top of share/doc/design.md. Prints each include
# that is not allowed.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
bad=0

# Prints "file:line:#include ..." of the sources in folder $1 whose included name matches $2 but not $3.
includes() {
  local folder=$1 pattern=$2 except=${3:-^$}
  grep -rnE --include='*.h' --include='*.cc' '^[[:space:]]*#[[:space:]]*include' "$folder" |
    { [[ $folder == */mpi ]] && cat || grep -v '^replay/cluster/mpi/'; } |
    grep -E "include[[:space:]]*[<\"]($pattern)" | grep -vE "include[[:space:]]*[<\"]($except)"
}

# must_not FOLDER WHY PATTERN [EXCEPTIONS]
must_not() {
  local found
  [[ -d $1 ]] || { echo "there is no folder $1, which this lint names" && bad=1 && return; }
  found=$(includes "$1" "$3" "${4:-^$}") || return 0
  echo "$1 must not include $2:"
  echo "$found"
  bad=1
}

# at_most FOLDER COUNT WHAT PATTERN: no more than COUNT files include it.
at_most() {
  local files
  files=$(includes "$1" "$4" | cut -d: -f1 | sort -u)
  if (($(grep -c . <<<"$files") > $2)); then
    echo "$1: $3 belongs into at most $2 files, it is in"
    echo "$files"
    bad=1
  fi
}

# Names begin at the root of the sources, so that the rules below see each of them.
relative=$(grep -rnE --include='*.h' --include='*.cc' '#[[:space:]]*include "\.' models replay tracer calibrate tools)
[[ -z $relative ]] || { echo "includes relative to a file:" && echo "$relative" && bad=1; }

# Each exists; but generated ones.
while IFS=: read -r file line included; do
  included=${included#*\"} included=${included%%\"*}
  [[ -e $included || $included == @(tools/version.h|replay/trace/mpi_calls.inc) ]] ||
    { echo "$file:$line: there is no $included" && bad=1; }
done < <(grep -rnE --include='*.h' --include='*.cc' '#[[:space:]]*include "(models|replay|tracer|calibrate|tools)/' \
  models replay tracer calibrate tools)

mpi='mpi\.h|mpi\.hpp'
otf2='otf2/|OTF2'
eigen='Eigen/|unsupported/Eigen'
printing='boost/|fmt/|nlohmann/'

# Models may use the parts of Boost for distributions (Student's t and the incomplete gamma function),
# containers and hashes.
must_not models "OTF2, MPI or other folders" "$otf2|$mpi|$printing|replay/|tools/|tracer/|calibrate/" \
  'boost/(math|container|container_hash)/'
must_not replay "MPI, Boost (but checksums), fmt, tools or other folders" "$mpi|boost/|fmt/|tools/|calibrate/|tracer/" \
  'tracer/archive/(schema|utf8)\.h|boost/crc\.hpp'
# Generated from version.h.in: one constant, allowed everywhere.
version='tools/version\.h'
must_not tracer "anything but OTF2, MPI and the C and C++ libraries" \
  "$eigen|$printing|toml|models/|replay/|tools/|calibrate/" "$version|models/base/number_text\.h"
must_not calibrate "OTF2 or folders other than models" "$otf2|replay/|tools/|tracer/" "$version"
must_not calibrate "the code that fits: it only measures" \
  'models/fit/(collective_fit|curve_ranges|fit|level_fit|load_fit|overheads)\.h|models/statistics/formula_fit\.h|models/platform/platform_file\.h'
# A separate library, which the command loads if started by mpirun.
must_not replay/cluster/mpi "anything but MPI and the transport interface" "$otf2|$eigen|$printing|models/|replay/|tools/|tracer/|calibrate/" \
  'replay/cluster/transport\.h'
must_not tools "MPI, OTF2, Eigen or folders other than replay and models" \
  "$mpi|$otf2|$eigen|tracer/|calibrate/" 'tracer/(recover/(recover|leftovers)|code/function_filter|counters/counter_list|base/(launcher|output_name))\.h'

at_most models 1 "the TOML reader" 'toml'
at_most tools 1 "the TOML reader" 'toml'
at_most models 1 "the XML reader" 'pugixml'
at_most calibrate 1 "hwloc" 'hwloc'
at_most models 1 "Boost.Math" 'boost/math/'
# Definitions; event_files.cc with its internal location and callbacks; metrics.cc; and archive_copy.cc, which writes.
at_most replay 6 "OTF2" "$otf2"

# in_order FOLDER SUBFOLDER...: each subfolder may include those before it, but none after it.
in_order() {
  local folder=$1 inner above listed
  shift
  listed=$(printf '%s\n' "$@" | sort)
  [[ $(find "$folder" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort) == "$listed" ]] ||
    { echo "$folder: its folders are not those listed in tests/lint/includes.sh" && bad=1; }
  while (($# > 1)); do
    inner=$1
    shift
    above=$(printf "$folder/%s/|" "$@")
    must_not "$folder/$inner" "folders above it" "${above%|}"
  done
}
in_order tracer base counters stack layout mpi code objects record timing summary archive report recover hooks session
in_order replay cluster trace store calls archive sources matching observe compare rules engine analyse parallel run study judge
in_order models base placement network topologies collective platform scenario statistics fit
in_order tools format cli options files launch doctor words tables report profile studies calibration commands
must_not replay "the code that calibrates" 'models/(statistics|fit)/'

exit "$bad"
