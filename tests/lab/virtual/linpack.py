"""Linpack of HPC Challenge (`apt-get source hpcc`), a real code: compiled for SMPI, and its input."""
import glob
import math
import os

OPTIONS = ["-DAdd_", "-DF77_INTEGER=int", "-DStringSunStyle"]
LIBRARIES = ["-lblas"]

# HPC Challenge calls it after all else; here it is alone. Its defaults are for runs without an input file.
MAIN = """#include <hpl.h>

int HPCC_Defaults(void) { return 1; }

int main(int argc, char** argv) {
  HPL_RuntimeData data;
  int failure = 0;
  MPI_Init(&argc, &argv);
  HPL_main(argc, argv, &data, &failure);
  return MPI_Finalize() || failure;
}
"""

# Order 600 in blocks of 40, on a square of ranks; otherwise as in the example of the sources.
CHANGED = {5: "600 Ns", 7: "40 NBs", 10: "{side} Ps", 11: "{side} Qs"}


def why_not(directory, ranks):
    """What is wrong with the sources or the numbers of ranks; None: nothing."""
    if not directory:
        return "hpl needs --hpcc, the sources of HPC Challenge (apt-get source hpcc)"
    if not os.path.exists(os.path.join(directory, "hpl/testing/ptest/HPL_pddriver.c")):
        return f"--hpcc: {directory} has no hpl/testing/ptest/HPL_pddriver.c; name the sources of HPC Challenge"
    uneven = [number for number in ranks if math.isqrt(number) ** 2 != number]
    return f"hpl runs on a square of ranks, and {uneven[0]} is none" if uneven else None


def sources(directory, work):
    """Its files, with a main program, and what the compiler needs for them."""
    main = os.path.join(work, "hpl_main.c")
    with open(main, "w") as file:
        file.write(MAIN)
    found = [*glob.glob(f"{directory}/hpl/src/*/*.c"), *glob.glob(f"{directory}/hpl/testing/*/*.c")]
    return [main, *sorted(found)], ["-I", f"{directory}/hpl/include", "-I", f"{directory}/include", *OPTIONS]


def prepare(directory, place, ranks):
    """Its input file, in the directory where it runs."""
    with open(os.path.join(directory, "_hpccinf.txt")) as file:
        lines = file.read().splitlines()
    for line, text in CHANGED.items():
        lines[line] = text.format(side=math.isqrt(ranks))
    with open(os.path.join(place, "hpccinf.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
