#!/usr/bin/env bash
#SBATCH --job-name=rubato
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=16
#SBATCH --time=00:30:00
# Traces a program under Slurm, calibrates the nodes that the job has, and replays the one on the other.
#   sbatch slurm.sh ./app arguments             Open MPI
#   MPI=mpich sbatch slurm.sh ./app arguments   MPICH, MVAPICH, Intel MPI, Cray MPICH
set -euo pipefail
module load rubato # share/examples/modules
out=rubato-$SLURM_JOB_ID.otf2dir

# How the site's MPI is started by srun: 'srun --mpi=list' shows what there is.
if [[ ${MPI:-openmpi} == mpich ]]; then
  start=(srun --mpi=pmi2)
else
  start=(srun --mpi=pmix)
fi

# Slurm may empty /dev/shm when a job is killed: the records are on the job's own disk or file system.
"${start[@]}" rubato trace -o "$out" --records "$SLURM_SUBMIT_DIR" "$@"
# Two ranks a node: one pair inside a node, one between two.
"${start[@]}" --nodes="$SLURM_NNODES" --ntasks=$((2 * SLURM_NNODES)) --ntasks-per-node=2 \
  rubato calibrate --quick -o "cluster-$SLURM_JOB_ID.toml"
rubato replay "$out" --on "cluster-$SLURM_JOB_ID.toml" --html "report-$SLURM_JOB_ID.html"
