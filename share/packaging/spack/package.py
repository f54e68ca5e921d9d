# A recipe for Spack: `spack repo create rubato-repo`, this file as packages/rubato/package.py of it, `spack repo add`.
from spack.package import *


class Rubato(CMakePackage):
    """Records the MPI calls of a program, without recompiling it, and replays
    them on another machine: a perfect interconnect, a faster network, another
    placement of ranks. Traces are OTF2 archives."""

    homepage = "https://rubato.example.org"
    git = "https://rubato.example.org/rubato.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("gzip", type="build")
    # A tracer and a calibrator for this one; several installations serve several MPI libraries.
    depends_on("mpi@3:")
    depends_on("otf2@3:")
    depends_on("eigen@3.4:")
    depends_on("boost@1.74: +program_options +math")
    depends_on("tomlplusplus@3:")
    depends_on("pugixml@1.12:")
    depends_on("nlohmann-json@3.11:")
    depends_on("fmt@9:")
    depends_on("hwloc@2:")
    depends_on("elfutils")

    conflicts("%gcc@:11", msg="Rubato needs C++20")
    conflicts("platform=darwin", msg="the tracer is preloaded as Linux does it")

    # HTML reports carry this one file inside them.
    resource(
        name="chart.js",
        url="https://registry.npmjs.org/chart.js/-/chart.js-3.9.1.tgz",
        sha256="111e0751796f087a51e94dfed910ccfb1278fd30e584a6e48514dba9ae7e72c6",
        placement="chart.js",
    )

    def cmake_args(self):
        chart = join_path(self.stage.source_path, "chart.js", "dist", "chart.min.js")
        return [
            self.define("RUBATO_CHART_JS", chart),
            self.define("MPICC_PLAIN", self.spec["mpi"].mpicc),
            self.define("MPICC_OPENMPI", "MPICC_OPENMPI-NOTFOUND"),
            self.define("MPICC_MPICH", "MPICC_MPICH-NOTFOUND"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_platforms(self):
        Executable(self.prefix.bin.rubato)("platforms")
