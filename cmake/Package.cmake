# What is installed is stripped: nine tenths of a program are debug information. The variable
# VPROF_KEEP_SYMBOLS of the environment keeps it. (Installation runs the parts of all folders in one
# script, so what is set here holds below.)
install(CODE "
  if(NOT DEFINED ENV{VPROF_KEEP_SYMBOLS})
    set(CMAKE_INSTALL_DO_STRIP ON)
  endif()")

# `cpack` makes a Debian package, and another one of the debug symbols. It strips by itself, so
# PackageOptions.cmake keeps them for it.
if(NOT VPROF_BUILD_INSTRUMENTER)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vprof)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageOptions.cmake)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageFiles.cmake)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER
    "Seed cab1d9df maintainers <maintainers@users.noreply.a-seed-cab1d9df.example>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"VProfiler follows each request of a server along its critical path, across
threads and processes, and splits the variance of its latency into the
functions, lock waits and queue waits on that path. It builds an instrumented
copy of the program with the program's own build, and refines the ranking run
by run.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
# The headers of Clang itself, which every parse needs, and no library says so.
set(CPACK_DEBIAN_PACKAGE_DEPENDS libclang-common-19-dev)
# It builds the user's program with the user's compiler.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | c++-compiler, make | ninja-build")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
