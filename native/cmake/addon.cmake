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
dfccl_unite(dfccl_addon_objects)

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
dfccl_put_into_package(dfccl_addon "${DFCCL_PLATFORM_PACKAGE}" dfccl.node)
