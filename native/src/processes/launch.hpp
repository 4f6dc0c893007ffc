#pragma once
// What a launcher tells a process about itself, in the environment.
#include <cstdint>
#include <functional>
#include <string>

namespace dfccl {

struct Launch {
  const char* launcher;  // "dfccl", "mpirun", ...
  uint32_t rank;
  uint32_t size;
  std::string job;  // the same for all processes of the job, and for no other job of the user's on this machine
};

/// A variable's value, or null.
using Environment = std::function<const char*(const char*)>;

/// Whether some launcher started this process.
bool isLaunched(const Environment& environment);
/// The first launcher that left its variables: "dfccl launch" (or whoever sets DFCCL_RANK), mpirun, srun, PMI,
/// torchrun.
/// @throws Error dfcclInvalidArgument naming the variable that is missing or wrong, or that tells of several machines.
Launch readLaunch(const Environment& environment);

}  // namespace dfccl
