# With VPROF_UNITY, the files of a component are compiled as one: most of a compilation's time goes into
# headers and into templates that its neighbours need as well.
#
# Names in a component must then be unique, those in anonymous namespaces as well. Files with compile
# options of their own are still compiled alone, and so is each changed file that clang-tidy checks.
function(vprof_compile_as_one target)
  if(VPROF_UNITY)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
