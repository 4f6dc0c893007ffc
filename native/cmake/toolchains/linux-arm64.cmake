# Linux on arm64, compiled on another machine (apt-get install g++-aarch64-linux-gnu). The preset linux-arm64-gnu uses it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Programs of the build are this machine's. Headers may be found beside the system's own: UCX's are the same everywhere.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
