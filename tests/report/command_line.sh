#!/usr/bin/env bash
# Wrong words on the command line are one helpful line and the right exit code, and leave no files
# behind: command_line.sh RUBATO
set -uo pipefail
rubato=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir run.otf2dir
printf 'level,bytes\nnode,8\n' >run.csv
bad=0

# expect CODE TEXT words...: rubato with these words exits with CODE, and its only line on standard
# error contains TEXT.
expect() {
  local code=$1 text=$2 message got=0
  shift 2
  message=$("$rubato" "$@" 2>&1 >out </dev/null) || got=$?
  if ((got != code)) || [[ $message != *"$text"* ]] || [[ $message == *$'\n'* ]]; then
    echo "rubato $*: exit code $got instead of $code, or no '$text' in: $message"
    bad=1
  fi
}

expect 2 "did you mean 'replay'" repaly run.otf2dir
expect 2 "did you mean '--help'" --hlep
expect 2 "did you mean '--json'" replay run.otf2dir --jsn out.json
expect 2 "did you mean '--json'" info run.otf2dir --jso
expect 2 "did you mean --on infiniband-hdr?" replay run.otf2dir infiniband-hdr
expect 2 "did you mean --on 'perfect:cpu" replay run.otf2dir 'perfect:cpu*2'
expect 2 "usage: rubato replay ARCHIVE" replay
expect 2 "usage: rubato info ARCHIVE" info
expect 2 "one archive" replay a b
expect 2 "usage: rubato profile ARCHIVE" profile
expect 2 "expected one archive" profile a b
expect 2 "did you mean '--csv'" profile a --cvs b
expect 2 "--json: the file name is empty" profile a --json ''
expect 2 "two reports cannot be written to the same file" profile run.otf2dir --csv a --json a
expect 2 "not written into an archive" profile run.otf2dir --csv run.otf2dir/a.csv
expect 2 "two scenarios are called 'perfect'" profile run.otf2dir --on perfect --on perfect
expect 1 "nothing.otf2dir" profile nothing.otf2dir --json a.json
expect 1 "missing/a.csv: cannot be written: No such file" profile run.otf2dir --csv missing/a.csv
expect 2 "expected two archives" diff run.otf2dir
expect 2 "expected two archives" diff --new run.otf2dir
expect 1 "nothing.otf2dir" diff nothing.otf2dir run.otf2dir run.otf2dir
expect 2 "expected at most one scenario per archive" diff a --on perfect --on bandela b
expect 2 "--threshold: '5' is not" diff a b --threshold 5
expect 2 "--fail-above: '3' is not a percentage" diff a b --fail-above 3
expect 1 "did you mean 'infiniband-hdr'" replay run.otf2dir --on infiniband-hdx
expect 1 "see 'rubato platforms'" replay run.otf2dir --on nowhere.toml
expect 2 "write placement=block" replay run.otf2dir --on perfect:placement=cyclic
expect 1 "hosts.txt: cannot be read" replay run.otf2dir --on perfect:placement=file:hosts.txt
expect 2 "write region=FUNCTION*FACTOR" replay run.otf2dir --on measured:region=solve
expect 2 "too many arguments" platforms all one
expect 1 "there is no platform 'nosuch'" platforms nosuch
expect 1 "there is no platform file 'nosuch'" replay run.otf2dir --on nosuch
expect 1 "there is no platform 'infiniband-hd' (did you mean 'infiniband-hdr'?)" platforms infiniband-hd
# Mistakes answered by the cure.
printf 'format = 1\n[level.network]\nlatency = "2 \xc2\xb5s"\nbandwidth = "10Gbit/s"\n' >cluster.toml
expect 2 "did you mean --on cluster.toml" replay run.otf2dir cluster.toml
expect 2 "did you mean rubato check cluster.toml" info cluster.toml
expect 2 "did you mean 'infiniband-hdr:ppn=1'" replay run.otf2dir --on infiniband-hdr,ppn=1
expect 2 "did you mean 'cluster.toml:ppn=1,latency*2'" replay run.otf2dir --on cluster.toml,ppn=1,latency*2
expect 1 "run.otf2dir: is a directory, not a platform file" replay run.otf2dir --on run.otf2dir
expect 2 "--memory 10: did you mean 10MiB?" trace --memory 10 true
mkdir 'a run' && touch 'a run/INCOMPLETE'
expect 1 "rubato recover 'a run'" info 'a run'
rm -r 'a run'
# Platforms by hand: 2 us and 8 ns a byte less latency, so 8 B take 2 us + 6.4 ns, 16 MiB 13.42 ms.
expect 0 "" check cluster.toml
# In one unit; 16 MiB / 13.42 ms = 1249.81 MB/s.
grep -Eq '^ +8 B +2.01 ' out && grep -Eq '^ +16 MiB +13423.77 +1,249.81 ' out && grep -q 'One way (µs)' out || {
  echo "check: $(cat out)"
  bad=1
}
expect 0 "" check infiniband-hdr cluster.toml
expect 1 "did you mean 'infiniband-hdr'" check infiniband-hd
# Blanks after the colon and around changes.
expect 1 "run.otf2dir" replay run.otf2dir --on 'cluster.toml: latency*2, bandwidth = 1GB/s'
# Other files in place of a platform.
expect 1 "run.csv: is a file of samples, not a platform file; make one with 'rubato fit run.csv -o" check run.csv
expect 1 "run.csv: is a file of samples" replay run.otf2dir --on run.csv
printf '\3BOTF2\0\0' >anchor.otf2
expect 1 "anchor.otf2: is an OTF2 archive, not a platform file; see 'rubato info anchor.otf2'" check anchor.otf2
printf '{"format": 1}\n' >anchor.otf2
expect 1 "anchor.otf2: is JSON, not a platform file" check anchor.otf2
printf '<?xml version="1.0"?>\n' >anchor.otf2
expect 1 "anchor.otf2: is XML" check anchor.otf2
printf 'a,b\n1,2\n' >anchor.otf2
expect 1 "anchor.otf2: is a table of values (CSV)" check anchor.otf2
rm anchor.otf2
sed -i 's/latency/latncy/' cluster.toml
expect 1 "cluster.toml:3: [level.network] has no key 'latncy' (did you mean 'latency'?)" check cluster.toml
printf 'format = 1\n[level.network]\nlatency = "2us"\n' >cluster.toml
expect 1 "cluster.toml:2: level.network lacks 'bandwidth'" check cluster.toml
printf 'format = 1\n[level.network]\nlatency = "2us"\npoints = []\n' >cluster.toml
expect 1 "needs 'latency' and 'bandwidth', or 'transfer', or 'points': one of them" check cluster.toml
expect 0 "" platforms infiniband-hdr
cmp -s out "$(dirname "$rubato")/../share/rubato/platforms/infiniband-hdr.toml" || {
  echo "platforms NAME: another file"
  bad=1
}
rm cluster.toml
expect 1 "calibrate needs at least 2 ranks" calibrate -o a.toml --seconds 1000000
expect 2 "--seconds: from 1 to a million, not 1000001" calibrate -o a.toml --seconds 1000001
expect 2 "files of samples and -o FILE" import a.txt
expect 2 "expected LEVEL=FILE" import --level nodes=a.txt -o a.toml
expect 1 "a.txt: cannot be read" import a.txt -o a.toml
expect 1 "run.csv: is not output of" import run.csv -o a.toml
expect 1 "run.csv exists" import run.csv -o run.csv
expect 2 "--window: expected an integer above 1" import a.txt -o a.toml --window 1
expect 2 "expected one platform file and -o FILE" export a.toml
expect 2 "or one archive and --goal FILE" export run.otf2dir --goal a -o b
expect 2 "--collectives: expected 'messages' or 'one', not 'x'" export run.otf2dir --goal a --collectives x
expect 2 "--nodes needs -o FILE" export run.otf2dir --goal a --nodes 16
expect 2 "--on needs --goal FILE" export a.toml -o a.xml --on perfect
expect 2 "--collectives needs --goal FILE" export a.toml -o a.xml --collectives one
expect 1 "run.csv exists" export run.otf2dir --goal run.csv
expect 2 "not written into an archive" export run.otf2dir --goal run.otf2dir/a.goal
expect 1 "there is no platform file 'a.toml'" export a.toml -o a.xml
expect 1 "'infiniband-hdrr' (did you mean 'infiniband-hdr'?)" export infiniband-hdrr -o a.xml
expect 1 "run.csv exists" export a.toml -o run.csv
expect 2 "--nodes: expected an integer above 0" export a.toml -o a.xml --nodes 0
expect 2 "two scenarios are called 'perfect'" replay run.otf2dir --on perfect --on perfect
expect 2 "two reports cannot be written to the same file" replay run.otf2dir --json a --csv a
expect 2 "not written into an archive" replay run.otf2dir --json run.otf2dir/a.json
expect 2 "not written into an archive" replay run.otf2dir --json old.otf2
expect 2 "--eager-limit: '5' is not" replay run.otf2dir --eager-limit 5
expect 2 "--on SCENARIO is required" tolerance run.otf2dir
expect 2 "--percent: expected numbers above 0" tolerance run.otf2dir --on perfect --percent 1,x
expect 2 "savings cannot be estimated" advise run.otf2dir --on undisturbed:local
expect 2 "must not contain a comma" advise run.otf2dir --hosts a,b
expect 2 "--on SCENARIO is required" place run.otf2dir
expect 2 "the scenario has no network" place run.otf2dir --on bandela --free 0-3
expect 2 "is no list of nodes" place run.otf2dir --on bandela:contention=torus,contention.dimensions=8 --free 0-
expect 2 "write overhead*FACTOR" replay run.otf2dir --on bandela:overhead=1us
expect 2 "--only needs --on SCENARIO" replay run.otf2dir --only
expect 2 "--polling: 'spin' is none of wait, keep" replay run.otf2dir --polling spin
expect 2 "--wildcards: 'first' is none of recorded, arrival" replay run.otf2dir --wildcards first
expect 2 "--sweep needs a platform" replay run.otf2dir --on measured:cpu*2 --sweep latency=1..10
expect 2 "did you mean 'latency'" replay run.otf2dir --on bandela --sweep latncy=1..10
expect 2 "the first factor must be the lower one" replay run.otf2dir --on bandela --sweep latency=10..1
printf "format = 1\n[level.node]\ntransfer = [ { from = \"0B\", latency = \"1us\", bandwidth = \"1GB/s\" } ]\n" >node.toml
expect 2 "changes a level that the platform does not have" replay run.otf2dir --on node.toml --sweep network.latency=1..10
expect 2 "--sweep excludes dr=fit" replay run.otf2dir --on bandela:dr=fit --sweep latency=1..10
expect 2 "--with excludes dr=fit" replay run.otf2dir --on bandela:dr=fit --with run.otf2dir
expect 2 "dr=fit is only supported by 'rubato replay'" tolerance run.otf2dir --on bandela:dr=fit
expect 2 "dr=fit is only supported by 'rubato replay'" profile run.otf2dir --on bandela:dr=fit
expect 2 "--otf2 excludes dr=fit" replay run.otf2dir --on bandela:dr=fit --otf2 copies
expect 2 "write dr=NUMBER" replay run.otf2dir --on 'bandela:dr*2'
expect 2 "write contention=MODEL with one of 'none', 'buses'" replay run.otf2dir --on bandela:contention=bus
expect 2 "--threads: expected 1 to 64" replay run.otf2dir --threads=-1
expect 2 "--threads: expected 1 to 64" replay run.otf2dir --threads 0
expect 2 "'many'" replay run.otf2dir --threads many
expect 2 "'99999999999'" replay run.otf2dir --threads 99999999999
expect 2 "did you mean 'corrected'" replay run.otf2dir --clocks correctd
expect 2 "'inside=1us' is none of" replay run.otf2dir --overhead outside=1us,inside=1us
(cd run.otf2dir && expect 2 "not written into an archive" replay . --json new.json; rm -f out; exit "$bad") || bad=1
expect 2 "expected two files of samples" compare run.csv
expect 2 "--time: 'mean' is none of min, avg, max" compare a.csv b.csv --time mean
expect 2 "two reports cannot be written to the same file" compare a.csv b.csv --csv out --json out
expect 1 "a.csv: No such file" compare a.csv b.csv --json a.json
expect 2 "expected one sample file and -o FILE" fit a.csv
expect 1 "run.csv:1: no column 'pattern'" fit run.csv -o a.toml
expect 1 "run.csv exists" fit run.csv -o run.csv
# One file under two names that do not exist yet.
for name in ./new.toml "$PWD/new.toml" run.otf2dir/../new.toml; do
  expect 2 "$name: two outputs cannot be written to the same file" import a.txt -o new.toml --csv "$name"
  expect 2 "$name: two outputs cannot be written to the same file" calibrate -o new.toml --html "$name"
done
expect 2 "./new.csv: two outputs cannot be written to the same file" calibrate -o new.toml --html ./new.csv
expect 1 "missing/a.json: cannot be written: No such file" replay run.otf2dir --json missing/a.json
expect 1 "run.otf2dir: cannot be written: Is a directory" replay no.otf2dir --json run.otf2dir
expect 1 "nothing.otf2dir" replay nothing.otf2dir --json a.json
expect 1 "nothing.otf2dir" info nothing.otf2dir

for words in "" "--help" "replay --help" "info --help" "profile --help" "advise --help" "place --help" "tolerance --help" "diff --help" "compare --help" "fit --help" "help trace" "platforms --help" "import --help" "export --help"; do
  # shellcheck disable=SC2086  # words on purpose
  "$rubato" $words >out 2>&1 </dev/null || {
    echo "rubato $words fails"
    bad=1
  }
  grep -q Usage: out || {
    echo "rubato $words shows no usage"
    bad=1
  }
done

# A platform whose longer messages are faster is read with a warning, before anything is replayed.
cat >fall.toml <<'END'
format = 1
[level.node]
transfer = [
  { from = "0B", latency = "2us", bandwidth = "inf" },
  { from = "4KiB", latency = "1us", bandwidth = "inf" },
]
END
"$rubato" replay run.otf2dir --on fall.toml >out 2>message
grep -q '^rubato: warning: fall.toml:5: level.node: a message takes 2us below 4KiB, and 1us from there on$' message ||
  { echo "no warning of a fall: $(cat message)" && bad=1; }
rm fall.toml message

# Collectives are compared by their medians, as in ReproMPI, unless --time is given. Four launches a side whose medians
# lie apart: of the C(8, 4) = 70 ways to deal the ranks two are as extreme, p = 2 / 70 = 0.0286. Their minima are equal.
for side in "a 2" "b 3"; do
  read -r name base <<<"$side"
  echo level,pattern,bytes,messages,seconds_min,seconds_median,launch,processes >"$name.csv"
  for i in 1 2 3 4; do echo "node,allreduce,8,1,1e-6,$base.${i}e-6,$i,4" >>"$name.csv"; done
done
for choice in ":0.0285714" "--time=min:1"; do
  # shellcheck disable=SC2086  # none or one word
  "$rubato" compare a.csv b.csv --csv - ${choice%%:*} >out
  [[ $(tail -1 out | cut -d, -f9) == "${choice##*:}" ]] || { echo "compare ${choice%%:*}: $(cat out)" && bad=1; }
done
# Older versions wrote no medians. What only one side has them of is compared by the minima, which are equal.
cut -d, -f1-5,7- a.csv >old.csv
"$rubato" compare old.csv b.csv --csv - >out
[[ $(tail -1 out | cut -d, -f9) == 1 ]] || { echo "medians are compared with minima: $(cat out)" && bad=1; }
"$rubato" compare old.csv b.csv >out
grep -q '^1 of 1 cells are compared by seconds_min' out || { echo "compare does not say so: $(cat out)" && bad=1; }
# Three lines say it, and where to find the rest; b takes 3.x us where a takes 2.x.
"$rubato" compare a.csv b.csv >out
{ [[ $(head -1 out) == "B is faster in 0 and slower in 1 of 1 cells"* ]] && grep -q '^Largest difference: node allreduce' out && [[ $(wc -l <out) -le 6 ]]; } ||
  { echo "compare is not short: $(cat out)" && bad=1; }
[[ $("$rubato" compare a.csv b.csv --all | wc -l) -gt 6 ]] || { echo "compare --all shows no table" && bad=1; }
rm a.csv b.csv old.csv

# All commands that replay: a level that the platform lacks is refused where no wider one can stand in, and a placement
# on one node helps.
cat >node.toml <<'END'
format = 1
[level.node]
transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
END
printf '%s\n' 'nodes 0 1' '0: 0..10 send 1 8B' '0: 5000 end' '1: 0..11 recv 0 8B' '1: 5000 end' >two.txt
for words in "replay two.txt" "profile two.txt" "tolerance two.txt" "advise two.txt" "diff two.txt"; do
  # shellcheck disable=SC2086  # words on purpose
  [[ $words == diff* ]] && last=two.txt || last=
  expect 1 "scenario 'node.toml': there are messages of level 'network'" $words --on node.toml $last
  expect 1 "on one node with ppn=RANKS" $words --on node.toml $last
  expect 0 "" $words --on node.toml:ppn=2 $last --overhead outside=1ns --polling keep --threads 1
  expect 2 "--polling: 'spin' is none of" $words --on node.toml $last --polling spin
done
# A report never replaces an input: a text trace, a platform, hosts.
cp two.txt copy.txt
printf 'format = 1\n[level.network]\nlatency = "2us"\nbandwidth = "10Gbit/s"\n' >five.toml
printf '%s\n' a b >hosts.txt
cat five.toml hosts.txt >inputs
expect 1 "two.txt is an input file" replay two.txt --json two.txt
expect 1 "copy.txt is an input file" diff two.txt copy.txt --csv ./copy.txt
cmp two.txt copy.txt || bad=1
for words in "replay two.txt" "profile two.txt" "tolerance two.txt" "advise two.txt" "place two.txt" "diff two.txt"; do
  [[ $words == diff* ]] && last=two.txt || last=
  # shellcheck disable=SC2086  # words on purpose
  expect 1 "five.toml is an input file" $words --on five.toml $last --json ./five.toml
  # shellcheck disable=SC2086
  expect 1 "hosts.txt is an input file" $words --on five.toml:placement=file:hosts.txt $last --csv hosts.txt
done
cat five.toml hosts.txt | cmp - inputs || bad=1
# The least platform that can be written prices messages of a rank to itself as those between nodes, and says so.
printf 'format = 1\n[level.network]\nlatency = "2us"\nbandwidth = "10Gbit/s"\n' >five.toml
printf '%s\n' '0: 0..10 isend 0 8B req 1' '0: 10..20 recv 0 8B' '0: 20..21 wait 1' '0: 5000 end' >self.txt
for words in "replay self.txt" "profile self.txt" "tolerance self.txt"; do
  # shellcheck disable=SC2086  # words on purpose
  expect 0 "" $words --on five.toml
  tr '\n' ' ' <out | grep -Eq "messages of level '?self'? are priced as level '?network" ||
    { echo "$words does not say what prices messages to oneself: $(cat out)" && bad=1; }
done
rm node.toml two.txt copy.txt five.toml self.txt hosts.txt inputs

# The calibrator that a rank executes: that of the launcher; Slurm supports both MPI libraries, and --mpi selects one. A
# test installation has calibrators that only print their names.
mkdir -p made/bin made/libexec/rubato
cp "$rubato" made/bin/rubato
for mpi in openmpi mpich; do
  printf '#!/bin/sh\necho %s\n' $mpi >made/libexec/rubato/rubato-calibrate-$mpi
  chmod +x made/libexec/rubato/rubato-calibrate-$mpi
done
# becomes MPI VARIABLES... -- words...
becomes() {
  local mpi=$1 got
  shift
  local variables=()
  while [[ $1 != -- ]]; do variables+=("$1") && shift; done
  shift
  got=$(env "${variables[@]}" made/bin/rubato calibrate -o new.toml "$@" 2>&1)
  [[ $got == "$mpi" ]] || { echo "${variables[*]} rubato calibrate $*: $got instead of $mpi" && bad=1; }
}
becomes openmpi OMPI_COMM_WORLD_RANK=0 --
becomes mpich PMI_RANK=0 PMI_FD=5 --
becomes mpich PMI_RANK=0 PMI_FD=5 SLURM_PROCID=0 --
becomes openmpi PMI_RANK=0 PMI_FD=5 SLURM_PROCID=0 -- --mpi openmpi
becomes openmpi PMIX_RANK=0 SLURM_PROCID=0 --
becomes mpich PMIX_RANK=0 SLURM_PROCID=0 -- --mpi mpich
becomes mpich PMIX_RANK=0 SLURM_PROCID=0 -- --mpi=mpich --quick
becomes "rubato: error: --mpi mpich: this job was started by the mpirun of Open MPI" OMPI_COMM_WORLD_RANK=0 -- --mpi mpich
expect 2 "--mpi: 'mpi' is none of openmpi, mpich" calibrate -o new.toml --mpi mpi
rm -r made

# Imported samples contain as much as the platform file made of them: IMB's processes, too. A barrier of 2 log2 p us.
{
  printf '# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n'
  printf '%s 1000 1.0 0\n' 0 8 64 512
  for processes in 2:2 4:4 8:6; do
    printf '\n# Benchmarking Barrier\n# #processes = %s\n#repetitions t_min[usec] t_max[usec] t_avg[usec]\n' "${processes%:*}"
    printf '1000 0 0 %s.0\n' "${processes#*:}"
  done
  printf '\n# Benchmarking Reduce_scatter\n# #processes = 3\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n'
  printf '%s 1000 1 1 1.0\n' 4 8
} >imb.txt
"$rubato" import imb.txt -o imb.toml --csv imb.csv >out && "$rubato" fit imb.csv -o again.toml >out || bad=1
grep -q '^network,barrier,0,1,6e-06,1,8$' imb.csv || {
  echo "processes are not in the samples: $(cat imb.csv)"
  bad=1
}
# Each of three gets a third of IMB's vector: 4 / 3 and 8 / 3 bytes.
for bytes in 1.33333333333333 2.66666666666667; do
  grep -q "^network,reduce_scatter,$bytes,1,1e-06,1,3\$" imb.csv || {
    echo "no payload of $bytes: $(cat imb.csv)"
    bad=1
  }
done
for file in imb.toml again.toml; do
  # 2 us a round of 1 us: up a tree and down again.
  grep -A3 '^.collectives.barrier' $file | grep -q 'name = "tree"' || {
    echo "no algorithm of the barrier in $file: $(cat $file)"
    bad=1
  }
done
expect 2 "./new.toml: two outputs cannot be written to the same file" fit imb.csv -o new.toml --html ./new.toml
rm imb.txt imb.csv imb.toml again.toml

rm out
[[ $(ls) == $'run.csv\nrun.otf2dir' && -z $(ls run.otf2dir) ]] || {
  echo "files are left: $(ls)"
  bad=1
}
exit "$bad"
