#pragma once
// Everything that the kernel files use from elsewhere. They include it before they choose their instructions, so that
// shared inline functions keep the baseline's: the linker keeps one copy of each, which must run on every CPU.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel_family.hpp"
#include "numeric/small_float.hpp"
#include "scalar.hpp"
