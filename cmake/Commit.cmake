# Which commit the source is of. Included, it defines
#
#   vprof_find_commit(SOURCE COMMIT DATE)
#
# COMMIT is an abbreviated hash, followed by `, with changes` where tracked files differ from it, and
# DATE its date in ISO 8601. Both are empty where neither git nor an archive that git made
# (commit.txt) tells. Run as a script, it writes a header, only if that changes:
#
#   cmake -D SOURCE=DIR -D VERSION=1.2.3 -D HEADER=FILE -P Commit.cmake
function(vprof_ask_git answer source)
  execute_process(COMMAND git -C ${source} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE failed
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(text "")
  endif()
  set(${answer} "${text}" PARENT_SCOPE)
endfunction()

function(vprof_find_commit source commit date)
  set(found "")
  set(found_date "")
  file(READ ${source}/cmake/commit.txt archived)
  if(archived MATCHES "^([0-9a-f]+) ([^ \n]+)")
    set(found ${CMAKE_MATCH_1})
    set(found_date ${CMAKE_MATCH_2})
  elseif(EXISTS ${source}/.git)  # not that of a tree around an unpacked archive
    vprof_ask_git(found ${source} describe --always --dirty --abbrev=10 --exclude=*)
    vprof_ask_git(found_date ${source} log -1 --format=%cI)
    string(REPLACE "-dirty" ", with changes" found "${found}")
  endif()
  set(${commit} "${found}" PARENT_SCOPE)
  set(${date} "${found_date}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_policy(VERSION 3.25)
  vprof_find_commit(${SOURCE} commit date)
  set(text "${VERSION}")
  if(commit)
    string(APPEND text " (commit ${commit})")
  endif()
  file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define VPROF_VERSION_TEXT \"@text@\"\n" @ONLY)
endif()
