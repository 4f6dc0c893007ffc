# One executable a file, registered with ctest under its path: test/queues/ring_test.cpp is the test "queues/ring_test".
#   *_test.cpp    doctest                          label "unit"
#   *_stress.cpp  doctest, many threads            label "stress"
#   *_relacy.cpp  relaxed-memory verifier          label "relacy"
#   *_test.c      the C API, as a C program has it label "c"
# A program that ends with 77 couldn't do here what it tests, and is reported as skipped.
# The target `native_tests` builds all of them, `native_tests_LABEL` those of one label. Optimising a test costs more time
# than it saves: relacy's templates compile in 11 s instead of 70 and run in 1.3 s instead of 0.3. Stress tests are optimised,
# as what ships is.

set(_test_dir "${CMAKE_CURRENT_SOURCE_DIR}/test")
file(GLOB_RECURSE _unit CONFIGURE_DEPENDS "${_test_dir}/*_test.cpp")
file(GLOB_RECURSE _stress CONFIGURE_DEPENDS "${_test_dir}/*_stress.cpp")
file(GLOB_RECURSE _relacy CONFIGURE_DEPENDS "${_test_dir}/*_relacy.cpp")
file(GLOB_RECURSE _c CONFIGURE_DEPENDS "${_test_dir}/*_test.c")
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h)
find_path(RELACY_INCLUDE_DIR relacy/relacy.hpp)
add_custom_target(native_tests)
foreach(_label IN ITEMS unit stress relacy c)
  add_custom_target(native_tests_${_label})
  add_dependencies(native_tests native_tests_${_label})
endforeach()

function(dfccl_add_test source label timeout)
  file(RELATIVE_PATH _path "${_test_dir}" "${source}")
  string(REGEX REPLACE "\\.[a-z]+$" "" _name "${_path}")
  string(REPLACE "/" "-" _target "${_name}")
  add_executable(${_target} "${source}")
  target_link_libraries(${_target} PRIVATE ${ARGN})
  target_include_directories(${_target} PRIVATE "${_test_dir}" "${CMAKE_CURRENT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/include")
  if(_path MATCHES "^bench/")
    target_include_directories(${_target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/bench")
  endif()
  set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test")
  add_test(NAME "${_name}" COMMAND ${_target})
  set_tests_properties("${_name}" PROPERTIES LABELS ${label} TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
  add_dependencies(native_tests_${label} ${_target})
  set(_target ${_target} PARENT_SCOPE)
  set(_name ${_name} PARENT_SCOPE)
endfunction()

if(DOCTEST_INCLUDE_DIR)
  # A library, so that a test with a main of its own doesn't get this one.
  add_library(doctest_main STATIC EXCLUDE_FROM_ALL "${_test_dir}/doctest/implementation.cpp" "${_test_dir}/doctest/main.cpp")
  target_link_libraries(doctest_main PRIVATE dfccl_flags)
  target_compile_options(doctest_main PRIVATE -O1)
  target_include_directories(doctest_main SYSTEM PUBLIC "${DOCTEST_INCLUDE_DIR}")
  # Takes as long to compile as a test, and most tests of the daemon need it.
  add_library(daemon_explorer STATIC EXCLUDE_FROM_ALL "${_test_dir}/daemon/support/explore_all_rules.cpp")
  target_link_libraries(daemon_explorer PUBLIC dfccl)
  target_include_directories(daemon_explorer PRIVATE "${_test_dir}" "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_compile_options(daemon_explorer PRIVATE -O1)
  foreach(_source IN LISTS _unit)
    dfccl_add_test("${_source}" unit 300 dfccl doctest_main)
    target_compile_options(${_target} PRIVATE -O1)
    if(_source MATCHES "/daemon/[^/]*$")
      target_link_libraries(${_target} PRIVATE daemon_explorer)
    endif()
  endforeach()
  foreach(_source IN LISTS _stress)
    dfccl_add_test("${_source}" stress 600 dfccl doctest_main)
    # They want all cores, and some look for what is left in /dev/shm, where others have theirs.
    set_tests_properties("${_name}" PROPERTIES RUN_SERIAL TRUE)
  endforeach()
  add_test(NAME "daemon/platform_errors"
    COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}"
      "-DWORK_DIR=${CMAKE_BINARY_DIR}/test" -P "${_test_dir}/daemon/platform_errors.cmake")
  set_tests_properties("daemon/platform_errors" PROPERTIES LABELS unit TIMEOUT 300)
else()
  message(STATUS "No unit and stress tests: doctest is missing (apt-get install doctest-dev)")
endif()

# The verifier replaces the atomics themselves, so these don't link the engine: they include the headers that they check.
if(RELACY_INCLUDE_DIR AND NOT DFCCL_SANITIZE)
  foreach(_source IN LISTS _relacy)
    dfccl_add_test("${_source}" relacy 600 dfccl_flags)
    target_compile_definitions(${_target} PRIVATE DFCCL_RELACY)
    target_compile_options(${_target} PRIVATE -O0)
    target_include_directories(${_target} SYSTEM PRIVATE "${RELACY_INCLUDE_DIR}")
  endforeach()
elseif(NOT RELACY_INCLUDE_DIR)
  message(STATUS "No relaxed-memory tests: relacy is missing (apt-get install relacy-dev)")
endif()

foreach(_source IN LISTS _c)
  dfccl_add_test("${_source}" c 300 dfccl_shared dfccl_flags)
endforeach()
