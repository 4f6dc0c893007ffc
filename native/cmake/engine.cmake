# The engine's objects, compiled once: libdfccl.a for C++ that sees everything, libdfccl.so for callers of the C API.

file(GLOB_RECURSE DFCCL_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp")
# What a binary without CUDA has in place of cuda/: see world/gpu_backend.hpp.
set(DFCCL_WITHOUT_GPU "${CMAKE_CURRENT_SOURCE_DIR}/src/without_gpu/without_gpu.cpp")
list(REMOVE_ITEM DFCCL_SOURCES "${DFCCL_WITHOUT_GPU}")
add_library(dfccl_objects OBJECT ${DFCCL_SOURCES})
target_include_directories(dfccl_objects PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include" PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
set_property(SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/src/c_api/version.cpp" APPEND PROPERTY
  COMPILE_DEFINITIONS "DFCCL_VERSION=\"${PROJECT_VERSION}\"")
target_link_libraries(dfccl_objects PUBLIC dfccl_flags)
# What moves data is compiled by itself, so that its code doesn't hang on what lies beside it; shared_arena.cpp and
# connected_programs.cpp have names that others of their folders have.
dfccl_unite(dfccl_objects ALONE reduce_copy cpu/worker_pool.cpp processes/shared_arena.cpp world/connected_programs.cpp)
# Only UCX's headers are needed to build: its library is loaded by the first world that spans several machines.
find_path(UCX_INCLUDE_DIR ucp/api/ucp.h)
if(UCX_INCLUDE_DIR)
  target_compile_definitions(dfccl_objects PRIVATE DFCCL_WITH_UCX)
  target_include_directories(dfccl_objects SYSTEM PRIVATE "${UCX_INCLUDE_DIR}")
else()
  message(STATUS "No worlds on several machines: UCX's headers are missing (apt-get install libucx-dev)")
endif()

add_library(dfccl_without_gpu OBJECT "${DFCCL_WITHOUT_GPU}")
target_include_directories(dfccl_without_gpu PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
target_link_libraries(dfccl_without_gpu PRIVATE dfccl_flags)
target_include_directories(dfccl_without_gpu PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/include")

add_library(dfccl STATIC)
target_link_libraries(dfccl PUBLIC dfccl_objects PRIVATE dfccl_without_gpu)

# The C API as a shared library, from what is linked in: dfccl for the CPU alone, or dfccl_cuda for both.
function(dfccl_add_shared_library target directory)
  add_library(${target} SHARED)
  target_link_libraries(${target} PRIVATE dfccl_objects ${ARGN})
  target_include_directories(${target} INTERFACE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include")
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME dfccl VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY "${directory}" LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports-c-api.map")
  # Only the C functions leave the library. C++ names stay inside, so two versions can live in one process.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports-c-api.map")
endfunction()
dfccl_add_shared_library(dfccl_shared "${CMAKE_BINARY_DIR}" dfccl_without_gpu)
