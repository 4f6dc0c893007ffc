# Makes the entry points in FOLDER from LIST, symbols.txt:
#   functions.hpp      what is real, as the files of this folder define it: ncclCommSplit is nccl::commSplit
#   entry_points.hpp   every function, as callers see it, and their names
#   entry_points.cpp   every function: a call of what is real, or the refusal; and its twin
#   exports.map        what leaves the library

set(_functions "#pragma once\n#include \"nccl_api/abi.hpp\"\n\nnamespace dfccl::nccl {\n\n")
set(_declarations "#pragma once\n#include \"nccl_api/abi.hpp\"\n\nextern \"C\" {\n")
set(_real "")
set(_refused "")
set(_bodies "#include \"entry_points.hpp\"\n\n#include \"functions.hpp\"\n#include \"nccl_api/entry.hpp\"\n\n")
string(APPEND _bodies "using dfccl::nccl::entered;\nusing dfccl::nccl::refuse;\n\nextern \"C\" {\n")
set(_exports "{\n  global:\n")

file(STRINGS "${LIST}" _lines REGEX "^nccl")
foreach(_line IN LISTS _lines)
  if(NOT _line MATCHES "^([A-Za-z0-9]+) \\| ([^|]+) \\|([^|]*)\\| (real|refused)(: (.*))?$")
    message(FATAL_ERROR "${LIST}: can't be read: ${_line}")
  endif()
  set(_name "${CMAKE_MATCH_1}")
  set(_result "${CMAKE_MATCH_2}")
  string(STRIP "${CMAKE_MATCH_3}" _parameters)
  set(_state "${CMAKE_MATCH_4}")
  set(_note "${CMAKE_MATCH_6}")
  string(REGEX MATCHALL "[A-Za-z0-9]+(,|$)" _arguments "${_parameters}")
  string(REPLACE ";" "" _arguments "${_arguments}")
  string(REPLACE "," ", " _arguments "${_arguments}")
  string(SUBSTRING "${_name}" 4 1 _first)
  string(SUBSTRING "${_name}" 5 -1 _rest)
  string(TOLOWER "${_first}" _first)
  set(_function "${_first}${_rest}")

  string(APPEND _declarations "${_result} ${_name}(${_parameters});\n")
  string(APPEND _declarations "${_result} p${_name}(${_parameters});\n")
  string(APPEND _${_state} " \\\n  X(${_name})")
  string(APPEND _exports "    ${_name};\n    p${_name};\n")
  if(_state STREQUAL "real")
    string(APPEND _functions "${_result} ${_function}(${_parameters});\n")
    string(APPEND _bodies "${_result} ${_name}(${_parameters}) {\n"
      "  return entered(\"${_name}\", [&] { return dfccl::nccl::${_function}(${_arguments}); });\n}\n")
  else()
    # No names, so that nothing is unused.
    string(REGEX REPLACE " ?[A-Za-z0-9]+(,|$)" "\\1" _types "${_parameters}")
    string(APPEND _bodies "${_result} ${_name}(${_types}) {\n"
      "  return refuse<${_result}>(\"${_name}\", \"${_note}\");\n}\n")
  endif()
  string(APPEND _bodies "decltype(${_name}) p${_name} __attribute__((alias(\"${_name}\")));\n")
endforeach()

# What is the same stays, and what was built of it.
function(_dfccl_write name text)
  set(_former "")
  if(EXISTS "${FOLDER}/${name}")
    file(READ "${FOLDER}/${name}" _former)
  endif()
  if(NOT _former STREQUAL text)
    file(WRITE "${FOLDER}/${name}" "${text}")
  endif()
endfunction()
_dfccl_write(functions.hpp "${_functions}\n}  // namespace dfccl::nccl\n")
_dfccl_write(entry_points.hpp "${_declarations}}

/// X(name) for each of them, twins left out.
#define DFCCL_NCCL_REAL(X)${_real}
#define DFCCL_NCCL_REFUSED(X)${_refused}
#define DFCCL_NCCL_FUNCTIONS(X) DFCCL_NCCL_REAL(X) DFCCL_NCCL_REFUSED(X)
")
_dfccl_write(entry_points.cpp "${_bodies}}\n")
_dfccl_write(exports.map "${_exports}  local: *;\n};\n")
