# The Node addon, build/<preset>/dfccl.node. The headers come from npm, so nothing of Node is downloaded here.

file(GLOB DFCCL_ADDON_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/addon/*.cpp")
set(_modules "${CMAKE_CURRENT_SOURCE_DIR}/node_modules" "${CMAKE_CURRENT_SOURCE_DIR}/../node_modules")
find_path(NODE_ADDON_API_DIR napi.h HINTS ${_modules} PATH_SUFFIXES node-addon-api NO_DEFAULT_PATH)
find_path(NODE_API_HEADERS_DIR node_api.h HINTS ${_modules} PATH_SUFFIXES node-api-headers/include NO_DEFAULT_PATH)

if(NOT DFCCL_ADDON_SOURCES)
  message(STATUS "No addon: native/addon has no sources")
  return()
endif()
if(NOT NODE_ADDON_API_DIR OR NOT NODE_API_HEADERS_DIR)
  message(FATAL_ERROR "node-addon-api or node-api-headers is missing. Run `npx pnpm install`, or leave the addon out with -DDFCCL_BUILD_ADDON=OFF")
endif()

add_library(dfccl_addon_objects OBJECT ${DFCCL_ADDON_SOURCES})
target_include_directories(dfccl_addon_objects PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/addon"
  "${CMAKE_CURRENT_SOURCE_DIR}/include")
target_include_directories(dfccl_addon_objects SYSTEM PRIVATE "${NODE_ADDON_API_DIR}" "${NODE_API_HEADERS_DIR}")
# SWALLOW_UNTHROWABLE: without it, a call into a worker that is terminating aborts the whole process.
target_compile_definitions(dfccl_addon_objects PRIVATE NAPI_VERSION=8 NAPI_CPP_EXCEPTIONS
  NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS BUILDING_NODE_EXTENSION)
target_link_libraries(dfccl_addon_objects PUBLIC dfccl_flags)

if(NOT DFCCL_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  include(cmake/glibc_floor.cmake)
endif()

# From what is linked in: the engine of the CPU alone (dfccl), or both (dfccl_objects and dfccl_cuda).
function(dfccl_add_addon target directory)
  add_library(${target} MODULE)
  target_link_libraries(${target} PRIVATE dfccl_addon_objects ${ARGN})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME dfccl SUFFIX ".node" LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY "${directory}" LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports-addon.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports-addon.map")
  if(COMMAND dfccl_keep_glibc_floor)
    dfccl_keep_glibc_floor(${target})
  endif()
endfunction()
dfccl_add_addon(dfccl_addon "${CMAKE_BINARY_DIR}" dfccl)
add_dependencies(dfccl_product dfccl_addon)

# The release build is what the platform's npm packages carry; copied there, so that they are never older than the build, and
# without the debug information that is three quarters of it.
get_filename_component(_repository "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)
string(REPLACE "x86_64" "x64" _cpu "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "aarch64" "arm64" _cpu "${_cpu}")
set(_platform_package "${_repository}/packages/native-linux-${_cpu}-gnu")
function(dfccl_put_into_package target package)
  if(CMAKE_BINARY_DIR STREQUAL "${_repository}/build/release" AND IS_DIRECTORY "${package}")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND "${CMAKE_STRIP}" --strip-unneeded -o "${package}/dfccl.node" "$<TARGET_FILE:${target}>" VERBATIM)
  endif()
endfunction()
dfccl_put_into_package(dfccl_addon "${_platform_package}")
