#!/usr/bin/env bash
#flux: --job-name=rubato
#flux: --nodes=2
#flux: --time-limit=30m
# Traces a program under Flux, calibrates the nodes that the job has, and replays the one on the other.
#   flux batch flux.sh ./app arguments                       MPICH, MVAPICH, Cray MPICH
#   flux batch --env=MPI=openmpi flux.sh ./app arguments     Open MPI
set -euo pipefail
module load rubato # share/examples/modules
job=${FLUX_JOB_ID:-$$}
out=rubato-$job.otf2dir
# Open MPI 5 wants PMIx of Flux, which is a plugin of its own; the others PMI-2, which Flux always has.
start=(flux run --nodes=2)
[[ ${MPI:-mpich} == openmpi ]] && start+=(-o pmi=pmix)

"${start[@]}" --tasks-per-node=16 rubato trace -o "$out" "$@"
"${start[@]}" --tasks-per-node=2 rubato calibrate --quick -o "cluster-$job.toml"
rubato replay "$out" --on "cluster-$job.toml" --html "report-$job.html"
