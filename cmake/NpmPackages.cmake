# Installs the packages in the package-lock.json of the current folder, once for each state of that
# file. Needs VPROF_NPM.
#
#   vprof_install_npm_packages(RESULT)
#
# RESULT is the folder `packages` in the build tree, or empty if npm failed; a warning then says
# why.
function(vprof_install_npm_packages result)
  set(${result} "" PARENT_SCOPE)
  set(packages ${CMAKE_CURRENT_BINARY_DIR}/packages)
  foreach(name package.json package-lock.json)
    configure_file(${name} ${packages}/${name} COPYONLY)
  endforeach()
  file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/package-lock.json wanted)
  set(stamp ${packages}/installed)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT installed STREQUAL wanted)
    message(STATUS "Installing npm packages for ${CMAKE_CURRENT_SOURCE_DIR} (npm ci)")
    execute_process(
      COMMAND ${VPROF_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=2
              --fetch-retry-maxtimeout=10000
      WORKING_DIRECTORY ${packages} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 300)
    if(failed)
      message(WARNING "npm could not install the packages of ${CMAKE_CURRENT_SOURCE_DIR}:\n${output}\n"
                      "Check that npm reaches its registry (`npm ping`), and configure again.")
      return()
    endif()
    file(WRITE ${stamp} ${wanted})
  endif()
  set(${result} ${packages} PARENT_SCOPE)
endfunction()
