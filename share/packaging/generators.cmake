# Settings that cpack reads for each kind of package.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_PRE_BUILD_SCRIPTS ${CPACK_RUBATO_PACKAGING}/deb.cmake)
else()
  set(CPACK_PRE_BUILD_SCRIPTS ${CPACK_RUBATO_PACKAGING}/tarball.cmake)
endif()
