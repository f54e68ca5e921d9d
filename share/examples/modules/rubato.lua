-- An environment module for Lmod: modulefiles/rubato/VERSION.lua. Set prefix to where Rubato was installed.
help([[Records the MPI calls of a program and replays them on another machine: rubato --help]])
whatis("Name: Rubato")
whatis("Description: trace MPI programs and replay them on other machines")

local prefix = "/opt/rubato"
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
-- find_package(Rubato), for programs that are built on the replay
prepend_path("CMAKE_PREFIX_PATH", prefix)
