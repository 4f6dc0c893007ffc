# Benchmarks are built on demand only:  cmake --build --preset release --target bench
#   *_bench.cpp  this engine;  *_mpi.cpp  the same measurement against MPI, where there is one.
# The target `perf` builds those of bench/perf only, which `dfccl perf` runs.

file(GLOB_RECURSE _bench CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bench/*_bench.cpp")
file(GLOB_RECURSE _mpi CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bench/*_mpi.cpp")
add_custom_target(bench)
add_custom_target(perf)
find_package(benchmark QUIET)

function(dfccl_add_bench source)
  get_filename_component(_target "${source}" NAME_WE)
  add_executable(${_target} EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${_target} PRIVATE dfccl ${ARGN})
  target_include_directories(${_target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/bench"
    "${CMAKE_CURRENT_SOURCE_DIR}/test")  # for machines made of namespaces
  set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  add_dependencies(bench ${_target})
  if(source MATCHES "/bench/perf/")
    add_dependencies(perf ${_target})
    # Runs on hosts with an older C++ library than the builder's.
    target_link_options(${_target} PRIVATE -static-libstdc++)
  endif()
endfunction()

foreach(_source IN LISTS _bench)
  if(_source MATCHES "/bench/perf/")
    dfccl_add_bench("${_source}")
  else()
    dfccl_add_bench("${_source}" $<TARGET_NAME_IF_EXISTS:benchmark::benchmark>)
  endif()
endforeach()

# `dfccl perf` of the published packages runs this one. What is compared with MPI is built where that MPI is.
if(COMMAND dfccl_keep_glibc_floor)
  dfccl_keep_glibc_floor(perf_bench)
endif()
dfccl_put_into_package(perf_bench "${DFCCL_PLATFORM_PACKAGE}" bin/perf_bench)
add_dependencies(dfccl_product perf_bench)

# Debian's openmpi-bin brings mpicxx without the headers that it names, and find_package(MPI) ends the whole
# configuration there. What includes nothing else tells whether they are there.
find_program(_mpicxx NAMES mpicxx mpic++)
set(_mpicxx_failed 0)
if(_mpicxx)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/mpi_header.cpp" "#include <mpi.h>\n")
  execute_process(
    COMMAND "${_mpicxx}" -fsyntax-only "${CMAKE_CURRENT_BINARY_DIR}/mpi_header.cpp"
    RESULT_VARIABLE _mpicxx_failed
    OUTPUT_QUIET ERROR_QUIET)
endif()

if(_mpi)
  if(_mpicxx_failed EQUAL 0)
    find_package(MPI COMPONENTS CXX)
  endif()
  if(MPI_CXX_FOUND)
    foreach(_source IN LISTS _mpi)
      dfccl_add_bench("${_source}" MPI::MPI_CXX)
    endforeach()
  else()
    message(STATUS "No MPI benchmarks: MPI is missing (apt-get install libopenmpi-dev openmpi-bin)")
  endif()
endif()
