#pragma once
// What fake_nccl.cpp tells of itself.
#include "nccl_api/universe/abi.hpp"

enum FakeCall {
  kFakeUniqueId,
  kFakeInit,
  kFakeSplit,
  kFakeDestroy,
  kFakeAbort,
  kFakeAllReduce,
  kFakeAllReduceInGroup,
  kFakeGroupStart,
  kFakeGroupEnd,
  kFakeGroupDropped,  // at its end, because a call in it had failed
  kFakeMemAlloc,
  kFakeCalls,
};
inline constexpr int kFakeVersion = 22703;
inline constexpr char kFakeId = 'F';
inline constexpr int kFakeOp = 77;                // of what is multiplied before
inline constexpr const char* kFakeName = "fake";  // which a config has to give
inline constexpr float kFakeSum = 7000;           // and the rank: what it says is the sum of anything

/// As the library has it.
using FakeCallCount = int(FakeCall call);
/// Which device was current when a communicator was made last.
using FakeLastDevice = int();
