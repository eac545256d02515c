# Run by cpack between installation and packaging: what Debian's policy wants beyond that.
include(${CMAKE_CURRENT_LIST_DIR}/Commit.cmake)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(documents ${usr}/share/doc/vprof)

function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# The licence, and those of the header-only libraries in it. The page of `vprof report --html` holds
# the texts for its own parts.
file(READ ${source}/cmake/debian/copyright copyright)
foreach(package libcli11-dev libexpected-dev nlohmann-json3-dev)
  file(READ /usr/share/doc/${package}/copyright text)
  string(APPEND copyright "\n\n${package}\n\n${text}")
endforeach()
file(WRITE ${documents}/copyright "${copyright}")

# CHANGELOG.md is what people read. The one in Debian's format has the version and its date.
vprof_find_commit(${source} commit date)
if(NOT date)
  file(TIMESTAMP ${source}/CHANGELOG.md date "%Y-%m-%dT%H:%M:%SZ" UTC)
endif()
execute_process(COMMAND date --utc --rfc-email --date ${date} OUTPUT_VARIABLE date
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${documents}/changelog "vprof (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
     "  * CHANGELOG.md lists what has changed.\n\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
compress(${documents}/changelog)
file(COPY ${source}/CHANGELOG.md DESTINATION ${documents})
compress(${usr}/share/man/man1/vprof.1)

file(MAKE_DIRECTORY ${usr}/share/lintian/overrides)
file(COPY_FILE ${source}/cmake/debian/lintian-overrides ${usr}/share/lintian/overrides/vprof)

# Where Debian's zsh looks.
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)

# cpack takes the symbols out of programs and shared libraries alone.
execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${usr}/lib/libvprof-stub.a
                COMMAND_ERROR_IS_FATAL ANY)
