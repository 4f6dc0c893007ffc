# What a platform's npm packages carry is its build: release, or the preset of that platform's name. It is copied there, so that
# it is never older than the build, and without the debug information that is three quarters of it.
include(CheckSymbolExists)

# The platform as the packages name it: linux-x64-gnu, linux-arm64-musl, darwin-arm64.
string(TOLOWER "${CMAKE_SYSTEM_NAME}" _system)
string(REPLACE "x86_64" "x64" _cpu "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "aarch64" "arm64" _cpu "${_cpu}")
set(_libc "")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  check_symbol_exists(__GLIBC__ features.h DFCCL_HAS_GLIBC)
  set(_libc "-musl")
  if(DFCCL_HAS_GLIBC)
    set(_libc "-gnu")
  endif()
endif()
set(DFCCL_PLATFORM "${_system}-${_cpu}${_libc}")

if(NOT DFCCL_SANITIZE AND DFCCL_HAS_GLIBC AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  include(cmake/glibc_floor.cmake)
endif()

get_filename_component(_repository "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)
set(DFCCL_PLATFORM_PACKAGE "${_repository}/packages/native-${DFCCL_PLATFORM}")
set(_builds "${_repository}/build/release" "${_repository}/build/${DFCCL_PLATFORM}")

# As `file`, which is a path below the package.
function(dfccl_put_into_package target package file)
  if(CMAKE_BINARY_DIR IN_LIST _builds AND IS_DIRECTORY "${package}")
    get_filename_component(_folder "${package}/${file}" DIRECTORY)
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${_folder}"
      COMMAND "${CMAKE_STRIP}" --strip-unneeded -o "${package}/${file}" "$<TARGET_FILE:${target}>" VERBATIM)
  endif()
endfunction()
