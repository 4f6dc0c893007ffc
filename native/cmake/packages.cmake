# What the platform's npm packages carry is the release build; copied there, so that they are never older than the build, and
# without the debug information that is three quarters of it.

if(NOT DFCCL_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  include(cmake/glibc_floor.cmake)
endif()

get_filename_component(_repository "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)
string(REPLACE "x86_64" "x64" _cpu "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "aarch64" "arm64" _cpu "${_cpu}")
set(DFCCL_PLATFORM_PACKAGE "${_repository}/packages/native-linux-${_cpu}-gnu")

# As `file`, which is a path below the package.
function(dfccl_put_into_package target package file)
  if(CMAKE_BINARY_DIR STREQUAL "${_repository}/build/release" AND IS_DIRECTORY "${package}")
    get_filename_component(_folder "${package}/${file}" DIRECTORY)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${_folder}"
      COMMAND "${CMAKE_STRIP}" --strip-unneeded -o "${package}/${file}" "$<TARGET_FILE:${target}>" VERBATIM)
  endif()
endfunction()
