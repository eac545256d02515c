# A room is a folder of product code (docs/architecture.md). With VPROF_UNITY, the files of a room are
# compiled as one: most of a compilation's time goes into headers and into templates that its
# neighbours need as well.
#
# Names in a room must then be unique, those in anonymous namespaces as well. Files with compile
# options of their own are still compiled alone, and so is each changed file that clang-tidy checks.
function(vprof_compile_rooms_as_one target)
  if(NOT VPROF_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(room ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${room} room)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP DISABLE_PRECOMPILE_HEADERS ON)
endfunction()
