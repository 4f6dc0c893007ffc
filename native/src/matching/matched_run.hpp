#pragma once
#include <optional>

#include "matching/request.hpp"
#include "matching/signature.hpp"

namespace dfccl {

enum class RunKind {
  whole,
  // Messages of a rank to itself, of which both halves become a run:
  sendToSelf,
  receiveFromSelf,
  receiveFromAny,  // the signature's root is none yet
};

/// One run, as the caller describes it.
struct MatchedRun {
  Signature signature;
  const void* send = nullptr;
  void* recv = nullptr;
  void* stream = nullptr;             // it begins behind what that has been given; null: at once
  std::optional<uint64_t> capture{};  // of the stream's
  bool isInStream = false;            // it is a kernel in its stream, which goes on behind it
  bool isForItsStream = false;        // then: what it writes is for nobody else
  RunKind kind = RunKind::whole;
  int* source = nullptr;  // of a receive from any member: gets who has sent
};

}  // namespace dfccl
