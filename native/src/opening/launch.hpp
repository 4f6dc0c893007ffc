#pragma once
// What a launcher tells a process about itself, in the environment.
#include <cstdint>
#include <functional>
#include <string>

#include "network/host_rendezvous.hpp"

namespace dfccl {

struct Launch {
  const char* launcher;  // "dfccl", "mpirun", ...
  uint32_t rank;
  uint32_t size;
  std::string job;       // the same for all processes of the job, and for no other job of the user's on this machine
  std::string address;   // "host:port" of rank 0, where processes of several machines meet; empty: all are on this one
  std::string hostName;  // of this machine, if somebody has given it one
};

/// A variable's value, or null.
using Environment = std::function<const char*(const char*)>;

/// Whether some launcher started this process.
bool isLaunched(const Environment& environment);
/// The first launcher that left its variables: "dfccl launch" (or whoever sets DFCCL_RANK), mpirun, srun, PMI,
/// torchrun.
/// @throws Error dfcclInvalidArgument naming the variable that is missing or wrong.
Launch readLaunch(const Environment& environment);

/// The job's secret: DFCCL_JOB_SECRET, or what is in the file DFCCL_JOB_SECRET_FILE; empty where neither is set.
/// @throws Error dfcclInvalidArgument where the file can't be read, or has nothing in it.
std::string readSecret(const Environment& environment);

/// "host:port" or "[host]:port". @throws Error dfcclInvalidArgument
RendezvousPoint readAddress(const std::string& address);

}  // namespace dfccl
