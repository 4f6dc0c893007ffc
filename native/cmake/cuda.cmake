# The GPU platform (../cuda), where there is a CUDA compiler. The CPU build needs no toolkit.
#   -DDFCCL_CUDA=AUTO (default) | ON | OFF      -DDFCCL_CUDA_ARCHITECTURES="90-real"   for one kind of GPU, faster to build

set(DFCCL_CUDA AUTO CACHE STRING "Build the GPU platform: AUTO (where nvcc is), ON, OFF")
set(DFCCL_CUDA_ARCHITECTURES "80-real;90-real;100" CACHE STRING "GPU architectures; the last one also as PTX, for GPUs to come")
if(DFCCL_CUDA STREQUAL "OFF" OR DFCCL_SANITIZE)
  return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(DFCCL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "DFCCL_CUDA is ON, but there is no CUDA compiler. Install the CUDA toolkit, or put nvcc on the PATH")
  endif()
  message(STATUS "No GPU platform: nvcc is missing")
  return()
endif()
set(CMAKE_CUDA_ARCHITECTURES "${DFCCL_CUDA_ARCHITECTURES}")
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -g -DNDEBUG -lineinfo")
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 doesn't know that nvcc has C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
# Built on demand only, it takes minutes:  cmake --build --preset release --target dfccl_cuda dfccl_gpu
add_subdirectory("${CMAKE_CURRENT_SOURCE_DIR}/../cuda" "${CMAKE_BINARY_DIR}/cuda" EXCLUDE_FROM_ALL)
