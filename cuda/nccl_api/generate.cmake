# Makes the entry points in FOLDER from LIST, symbols.txt:
#   functions.hpp      what is real, as the files of calls/ define it: ncclCommSplit is nccl::commSplit
#   entry_points.hpp   every function, as callers see it, and their names
#   entry_points.cpp   every function: a call of what is real, or the refusal, or of the other NCCL whose the
#                      communicator is; and its twin
#   exports.map        what leaves the library

# These make or end communicators, which is more than to hand the call on: they see to it themselves.
set(_own ncclCommDestroy ncclCommAbort ncclCommSplit ncclCommShrink ncclCommGrow)

set(_functions "#pragma once\n#include \"nccl_api/universe/abi.hpp\"\n\nnamespace dfccl::nccl {\n\n")
set(_declarations "#pragma once\n#include \"nccl_api/universe/abi.hpp\"\n\nextern \"C\" {\n")
set(_real "")
set(_refused "")
set(_bodies "#include \"entry_points.hpp\"\n\n#include \"functions.hpp\"\n#include \"nccl_api/universe/entry.hpp\"\n")
string(APPEND _bodies "#include \"nccl_api/calls/falling_back.hpp\"\n#include \"nccl_api/calls/group_calls.hpp\"\n\n")
foreach(_used callReal entered enteredInGroup fallenBack RealNccl refuse)
  string(APPEND _bodies "using dfccl::nccl::${_used};\n")
endforeach()
string(APPEND _bodies "\nextern \"C\" {\n")
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
  # Another NCCL's communicator has all of its calls there. What is refused and takes none is about what one has made.
  set(_elsewhere "")
  string(REGEX REPLACE "(^|, )comm(,|$)" "\\1real\\2" _given "${_arguments}")
  string(REGEX REPLACE "^(.+)$" ", \\1" _given "${_given}")
  set(_call "return callReal<decltype(${_name})>(\"${_name}\"${_given});")
  if("${_parameters}" MATCHES "ncclComm_t comm(,|$)")
    if(NOT _name IN_LIST _own)
      set(_elsewhere "    if (const ncclComm_t real = fallenBack(comm)) ${_call}\n")
    endif()
  elseif(_state STREQUAL "refused")
    set(_elsewhere "    if (RealNccl::opened() != nullptr) ${_call}\n")
  endif()
  if(_state STREQUAL "real")
    string(APPEND _functions "${_result} ${_function}(${_parameters});\n")
    set(_here "dfccl::nccl::${_function}(${_arguments})")
  else()
    set(_here "refuse<${_result}>(\"${_name}\", \"${_note}\")")
    if(_elsewhere STREQUAL "")
      # No names, so that nothing is unused.
      string(REGEX REPLACE " ?[A-Za-z0-9]+(,|$)" "\\1" _parameters "${_parameters}")
    endif()
  endif()
  # What belongs to a group that is open fails it.
  set(_entered entered)
  if("${_parameters}" MATCHES "cudaStream_t stream$" OR _name MATCHES "^ncclComm(Init|Split|Shrink|Grow)")
    set(_entered enteredInGroup)
  endif()
  string(APPEND _bodies "${_result} ${_name}(${_parameters}) {\n"
    "  return ${_entered}(\"${_name}\", [&] {\n${_elsewhere}    return ${_here};\n  });\n}\n")
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
