#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "stream_programs/features.hpp"

namespace dfccl::gpu::programs {

struct Options {
  uint64_t seed = 1;            // of the first program; the next has the next
  uint64_t programs = 0;        // at most; 0: the default of the tier of tests
  uint64_t collectives = 0;     // stop behind so many runs; 0: don't
  double minutes = 0;           // ... minutes; 0: don't
  uint32_t ranks = 0;           // 0: drawn for each world
  uint32_t processes = 0;       // 1, or as many as ranks; 0: drawn for each world
  uint32_t machines = 1;        // that the ranks are spread over: processes which share no memory, on this one
  uint32_t perWorld = 0;        // programs that a world runs; 0: the default of the device
  uint32_t streams = 16;        // of a rank, at most
  uint64_t mostBytes = 0;       // of a rank's smaller buffer; 0: the default of the device
  uint32_t patience = 0;        // seconds in which something must move; 0: the default of the device
  uint32_t queues = 0;          // CUDA_DEVICE_MAX_CONNECTIONS; 0: as it is
  uint32_t grid = 0;            // blocks of a rank's daemon; 0: the default of the device
  uint32_t arenaMegabytes = 0;  // 0: the default of the device
  bool isSpread = false;        // ranks of one process on devices of their own
  bool isUnkind = false;        // simulated devices: whatever CUDA may do, they do
  bool prints = false;          // the listing of a program that hangs or goes wrong
  bool lists = false;           // only lists the programs
  bool goesOn = false;          // with the next world after a hang
  Features features = Features::all();
};

/// What is wrong with the command line, and what would be right.
class OptionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @throws OptionError
Options optionsOf(int argc, char** argv);

/// All options with what they do.
std::string usage();

}  // namespace dfccl::gpu::programs
