# A platform that lacks a piece is one compiler error, which names it: cmake -DCOMPILER=… -DSOURCE_DIR=…/native -DWORK_DIR=… -P this file
set(_pieces finishAccess reduceCopy kStepBudgetBytes)
foreach(_piece IN LISTS _pieces)
  # Hides the piece of a platform that has all of them.
  set(_source "#include \"test/daemon/support/toy_platform.hpp\"
struct Lacking : dfccl::test::ToyPlatform<dfccl::AllRules> { private: using ToyPlatform::${_piece}; };
static_assert(dfccl::Platform<Lacking>);
")
  set(_file "${WORK_DIR}/platform_without_${_piece}.cpp")
  file(WRITE "${_file}" "${_source}")
  execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${SOURCE_DIR}" "-I${SOURCE_DIR}/include"
                          "-I${SOURCE_DIR}/src" "-I${SOURCE_DIR}/test" "${_file}"
                  RESULT_VARIABLE _result OUTPUT_VARIABLE _output ERROR_VARIABLE _output)
  string(REGEX MATCHALL "error:" _errors "${_output}")
  list(LENGTH _errors _count)
  if(_result EQUAL 0)
    message(FATAL_ERROR "A platform without ${_piece} compiles")
  elseif(NOT _count EQUAL 1 OR NOT _output MATCHES "${_piece}")
    message(FATAL_ERROR "A platform without ${_piece} is ${_count} errors, or none that names it:\n${_output}")
  endif()
  message(STATUS "without ${_piece}: one error, which names it")
endforeach()
