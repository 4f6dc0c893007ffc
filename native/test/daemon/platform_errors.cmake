# A platform that lacks a piece is one compiler error, which names it: cmake -DCOMPILER=… -DSOURCE_DIR=…/native -DWORK_DIR=… -P this file
cmake_minimum_required(VERSION 3.22)
# The pieces are read from platform.hpp itself, so that none can be added which this doesn't ask about.
file(READ "${SOURCE_DIR}/src/daemon/platform.hpp" _header)
string(REGEX REPLACE "//[^\n]*" "" _header "${_header}")
# What arrivals, rounds, rings and requests need is asked of platforms that have them alone: below.
string(FIND "${_header}" "concept PlatformArrivals" _optional)
string(SUBSTRING "${_header}" 0 ${_optional} _required)
string(REGEX MATCHALL "[^a-zA-Z]P::[a-zA-Z]+|platform[.][a-zA-Z]+" _matches "${_required}")
list(TRANSFORM _matches REPLACE ".*[:.]" "" OUTPUT_VARIABLE _pieces)
list(REMOVE_DUPLICATES _pieces)
list(LENGTH _pieces _pieceCount)
if(_pieceCount LESS 60)
  message(FATAL_ERROR "Only ${_pieceCount} pieces were found in platform.hpp: ${_pieces}")
endif()

# All of them fit into one short file.
file(READ "${SOURCE_DIR}/test/daemon/support/toy_platform.hpp" _toy)
string(REGEX MATCHALL "\n" _lines "${_toy}")
list(LENGTH _lines _lineCount)
if(_lineCount GREATER 200)
  message(FATAL_ERROR "The toy platform has ${_lineCount} lines; 200 are enough for whoever brings the daemon to another machine")
endif()

# Each hides one piece of a platform that has all of them, or says that it has more than it does. None lacks nothing.
set(_source "#include \"test/daemon/support/toy_platform.hpp\"
using Toy = dfccl::test::ToyPlatform<dfccl::AllRules>;
struct Lacking_none : Toy {};
static_assert(dfccl::Platform<Lacking_none>);
")
foreach(_piece IN LISTS _pieces)
  string(APPEND _source "struct Lacking_${_piece} : Toy { private: using Toy::${_piece}; };
static_assert(dfccl::Platform<Lacking_${_piece}>);
")
endforeach()
string(APPEND _source "struct Lacking_hasArrivals : Toy { static constexpr bool kHasStreams = true; };
static_assert(dfccl::Platform<Lacking_hasArrivals>);
struct Lacking_beginRound : Toy { static constexpr uint32_t kRoundTurns = 3; };
static_assert(dfccl::Platform<Lacking_beginRound>);
struct Lacking_reduceCopyNear : Toy { static constexpr bool kHasRings = true; };
static_assert(dfccl::Platform<Lacking_reduceCopyNear>);
struct Lacking_carryOut : Toy { static constexpr bool kIsRemote = true; };
static_assert(dfccl::Platform<Lacking_carryOut>);
")
list(APPEND _pieces hasArrivals beginRound reduceCopyNear carryOut)
set(_file "${WORK_DIR}/platforms_lacking_a_piece.cpp")
file(WRITE "${_file}" "${_source}")
execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${SOURCE_DIR}" "-I${SOURCE_DIR}/include"
                        "-I${SOURCE_DIR}/src" "-I${SOURCE_DIR}/test" "${_file}"
                OUTPUT_VARIABLE _output ERROR_VARIABLE _output)

# What the compiler says from one error to the next. In a list of CMake's, semicolons and brackets have meanings.
string(REGEX REPLACE "[][;]" " " _output "${_output}")
string(REPLACE " error: " ";" _errors "${_output}")
list(POP_FRONT _errors)
list(LENGTH _errors _errorCount)
list(LENGTH _pieces _pieceCount)
if(NOT _errorCount EQUAL _pieceCount)
  message(FATAL_ERROR "${_pieceCount} platforms that lack a piece are ${_errorCount} errors:\n${_output}")
endif()
foreach(_piece _error IN ZIP_LISTS _pieces _errors)
  # The platform's own name doesn't count.
  string(REPLACE "Lacking_${_piece}" "" _said "${_error}")
  if(NOT _error MATCHES "Lacking_${_piece}[^a-zA-Z]" OR NOT _said MATCHES "[^a-zA-Z]${_piece}[^a-zA-Z]")
    message(FATAL_ERROR "The error of a platform without ${_piece} doesn't name it:\n${_error}")
  endif()
endforeach()
message(STATUS "${_pieceCount} platforms that lack a piece: one error each, which names it")
