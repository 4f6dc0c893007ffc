#pragma once
// A program may come from anywhere, so each of its bytes is looked at before the daemon relies on it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/state/bound_program.hpp"

namespace dfccl {

// A program of more than this is a mistake or an attack, not a collective.
inline constexpr uint64_t kMaxRecords = 1 << 22;

/// @throws Error dfcclInvalidProgram, always.
[[noreturn]] void refuseProgram(const std::string& what, size_t offset);

/// @param bytes of the whole program. @throws Error dfcclInvalidProgram
void checkHeader(const ProgramHeader& header, size_t bytes);

/// Everything behind the header. @throws Error dfcclInvalidProgram
void checkTables(const BoundProgram& program);

}  // namespace dfccl
