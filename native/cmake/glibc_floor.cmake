# The prebuilt addon and programs have to load on distributions older than the one that built them: glibc 2.28, which is Node's own floor.
# - libstdc++ is linked in. libgcc stays shared: wherever node runs libgcc_s.so.1 is there, and the static one asks for
#   _dl_find_object of glibc 2.35.
# - Functions that glibc moved from libpthread, libdl and librt into libc in 2.34 got a second, newer version there. The
#   linker takes the newest; the wrappers in glibc_floor.c ask for the first one.
# - The start of a program (crt1.o) leaves its constructors to glibc since 2.34, which an older one would never run: the
#   wrapper runs them.
# scripts/checks/addon-symbols.mjs reads the result and fails when a symbol newer than the floor has crept in.
set(_floor "${CMAKE_CURRENT_SOURCE_DIR}/cmake/glibc_floor.c")
set_source_files_properties("${_floor}" PROPERTIES COMPILE_OPTIONS "-ffunction-sections;-fdata-sections")
file(STRINGS "${_floor}" _lines REGEX "^(WRAP|TWIN|REPLACE)\\(")
set(_wraps)
foreach(_line IN LISTS _lines)
  string(REGEX REPLACE "^WRAP\\(([a-z0-9_]+),.*" "\\1" _symbol "${_line}")
  string(REGEX REPLACE "^TWIN\\(([a-z0-9_]+)\\).*" "__isoc23_\\1" _symbol "${_symbol}")
  string(REGEX REPLACE "^REPLACE\\([a-z0-9_]+, ([a-z0-9_]+)\\).*" "\\1" _symbol "${_symbol}")
  list(APPEND _wraps "LINKER:--wrap=${_symbol}")
endforeach()

function(dfccl_keep_glibc_floor target)
  target_sources(${target} PRIVATE "${_floor}")
  target_link_options(${target} PRIVATE -static-libstdc++ "LINKER:--exclude-libs,ALL" "LINKER:--gc-sections" ${_wraps})
endfunction()
