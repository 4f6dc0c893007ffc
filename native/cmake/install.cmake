# What `cmake --install` puts where: the library as C and C++ programs use it, and nothing of Node.
#   cmake --install build/release --prefix P                    all of it
#   cmake --install build/release --prefix P --component C      runtime: what programs run with; development: what they are built with
#   cmake --build build/release --target uninstall              removes what the last install wrote
# How long the library's number (the soname) stays, docs/c.md says.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# With -DDFCCL_CUDA=ON it is the library with both engines, which serves CPUs as well. AUTO builds that on demand only.
set(_shared dfccl_shared)
if(DFCCL_CUDA STREQUAL "ON" AND TARGET dfccl_shared_cuda)
  set(_shared dfccl_shared_cuda)
  add_custom_target(dfccl_installed ALL DEPENDS dfccl_shared_cuda)
endif()
add_dependencies(dfccl_product dfccl)

# The static library is the CPU's alone. Whoever links it links these too; a C++ compiler has the first ones anyway.
set(DFCCL_STATIC_NEEDS ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM DFCCL_STATIC_NEEDS ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(APPEND DFCCL_STATIC_NEEDS pthread dl rt)
list(TRANSFORM DFCCL_STATIC_NEEDS PREPEND "-l" OUTPUT_VARIABLE DFCCL_STATIC_FLAGS)
list(JOIN DFCCL_STATIC_FLAGS " " DFCCL_STATIC_FLAGS)

# Public is dfccl.h and what it includes. The other headers are the engine's own, and change with it.
install(FILES include/dfccl/dfccl.h include/dfccl/counts.h include/dfccl/groups.h
  include/dfccl/inspect.h include/dfccl/operators.h include/dfccl/status.h include/dfccl/streams.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dfccl" COMPONENT development)
install(TARGETS ${_shared} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS dfccl ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(FILES ../LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# Both find the library from where they lie themselves, so the whole tree may be moved.
set(_cmake_package "${CMAKE_INSTALL_LIBDIR}/cmake/dfccl")
set(_generated "${CMAKE_CURRENT_BINARY_DIR}/install")
configure_package_config_file(cmake/dfccl-config.cmake.in "${_generated}/dfccl-config.cmake"
  INSTALL_DESTINATION "${_cmake_package}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${_generated}/dfccl-config-version.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${_generated}/dfccl-config.cmake" "${_generated}/dfccl-config-version.cmake"
  DESTINATION "${_cmake_package}" COMPONENT development)
foreach(_dir IN ITEMS LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${_dir}}")
    set(DFCCL_PC_${_dir} "${CMAKE_INSTALL_${_dir}}")
  else()
    set(DFCCL_PC_${_dir} "\${prefix}/${CMAKE_INSTALL_${_dir}}")
  endif()
endforeach()
file(RELATIVE_PATH DFCCL_PREFIX_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" DFCCL_PREFIX_FROM_PC "${DFCCL_PREFIX_FROM_PC}")
configure_file(cmake/dfccl.pc.in "${_generated}/dfccl.pc" @ONLY)
install(FILES "${_generated}/dfccl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

if(NOT TARGET uninstall)
  add_custom_target(uninstall COMMENT "" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -D "BUILD=${CMAKE_BINARY_DIR}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/uninstall.cmake")
endif()
