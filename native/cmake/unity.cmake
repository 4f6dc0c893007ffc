# Compiles the files of a folder together: most of what a file costs is what it includes.
#   -DDFCCL_UNITY=OFF    each file by itself, for whoever changes one many times a day
# Every file has to compile by itself as well: the preset asan and the runner "cuda" see to that, without this.

option(DFCCL_UNITY "Compile the files of a folder together" ON)

# Names of anonymous namespaces meet in a folder. ALONE are files (folder/name.cpp) and folders that stay by themselves.
function(dfccl_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 _arg "" "" "ALONE")
  if(NOT DFCCL_UNITY)
    return()
  endif()
  get_target_property(_sources ${target} SOURCES)
  foreach(_source IN LISTS _sources)
    get_filename_component(_folder "${_source}" DIRECTORY)
    get_filename_component(_group "${_folder}" NAME)
    get_filename_component(_name "${_source}" NAME)
    if(NOT "${_group}/${_name}" IN_LIST _arg_ALONE AND NOT "${_group}" IN_LIST _arg_ALONE)
      set_property(SOURCE "${_source}" PROPERTY UNITY_GROUP "${_group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
