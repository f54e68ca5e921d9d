# Adapts the installed tree to Debian's rules before cpack builds the .deb.
file(GLOB trees ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(debian ${CPACK_RUBATO_PACKAGING}/debian)
foreach(usr IN LISTS trees)
  # One copyright file, and changelogs, compressed.
  set(doc ${usr}/share/doc/rubato)
  file(REMOVE ${doc}/LICENSE)
  configure_file(${debian}/copyright ${doc}/copyright COPYONLY)
  file(RENAME ${usr}/share/rubato/doc/changelog.md ${doc}/changelog)
  configure_file(${debian}/changelog ${doc}/changelog.Debian COPYONLY)
  execute_process(COMMAND gzip -9nf ${doc}/changelog ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  configure_file(${debian}/lintian-overrides ${usr}/share/lintian/overrides/rubato COPYONLY)
  # Experiments of papers need the source tree.
  file(REMOVE_RECURSE ${usr}/share/rubato/papers)
  # Chart.js is a package of its own.
  file(REMOVE ${usr}/share/rubato/report/chart.min.js)
  file(CREATE_LINK ../../javascript/chart.js/chart.min.js ${usr}/share/rubato/report/chart.min.js SYMBOLIC)
  file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
  file(RENAME ${usr}/share/zsh/site-functions/_rubato ${usr}/share/zsh/vendor-completions/_rubato)
  file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)
  # Libraries are found in the system's directories.
  file(GLOB programs ${usr}/bin/* ${usr}/libexec/rubato/*)
  foreach(program IN LISTS programs)
    file(RPATH_REMOVE FILE ${program})
  endforeach()
endforeach()
