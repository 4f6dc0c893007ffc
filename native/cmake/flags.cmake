# Language level, optimisation, warnings and sanitizers, for every target of this project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# No -march=native: the addon ships prebuilt, so wider instructions are chosen at run time.
# -g1: lines for backtraces and profilers. Variables as well (-g) would cost a quarter of the build's time.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(dfccl_flags INTERFACE)
# A product and a sum fused into one instruction round once instead of twice, so results would differ between machines.
target_compile_options(dfccl_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string's operator+ where there are none (its bug 105651).
  target_compile_options(dfccl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(DFCCL_WARNINGS_AS_ERRORS)
  target_compile_options(dfccl_flags INTERFACE -Werror)
endif()
target_link_libraries(dfccl_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_link_libraries(dfccl_flags INTERFACE rt)  # shm_open, before glibc 2.34
endif()

if(DFCCL_SANITIZE)
  string(REPLACE ";" "," _sanitize "${DFCCL_SANITIZE}")
  target_compile_options(dfccl_flags INTERFACE -fsanitize=${_sanitize} -fno-sanitize-recover=all)
  target_link_options(dfccl_flags INTERFACE -fsanitize=${_sanitize})
  target_compile_definitions(dfccl_flags INTERFACE DFCCL_SANITIZED=1)
endif()
