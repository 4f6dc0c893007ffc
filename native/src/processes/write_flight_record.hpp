#pragma once
#include <string>

namespace dfccl {

/// Writes a record, and the end of its line: whole or not at all, whoever reads or dies meanwhile. Makes the folder
/// where there is none.
/// @throws Error dfcclSystemError with the path, and the system's reason, in its facts.
void writeFlightRecord(const std::string& path, const std::string& record);

}  // namespace dfccl
