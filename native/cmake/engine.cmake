# The engine's objects, compiled once: libdfccl.a for C++ that sees everything, libdfccl.so for callers of the C API.

file(GLOB_RECURSE DFCCL_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp")
add_library(dfccl_objects OBJECT ${DFCCL_SOURCES})
target_include_directories(dfccl_objects PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include" PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
set_property(SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/src/c_api/last_error.cpp" APPEND PROPERTY
  COMPILE_DEFINITIONS "DFCCL_VERSION=\"${PROJECT_VERSION}\"")
target_link_libraries(dfccl_objects PUBLIC dfccl_flags)

add_library(dfccl STATIC)
target_link_libraries(dfccl PUBLIC dfccl_objects)

add_library(dfccl_shared SHARED)
target_link_libraries(dfccl_shared PRIVATE dfccl_objects)
target_include_directories(dfccl_shared INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/include")
set_target_properties(dfccl_shared PROPERTIES
  OUTPUT_NAME dfccl VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
  LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports-c-api.map")
# Only the C functions leave the library. C++ names stay inside, so two versions can live in one process.
target_link_options(dfccl_shared PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports-c-api.map")
