#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "world/collective_id.hpp"
#include "world/signature_facts.hpp"

namespace dfccl {

/// What a rank registers. Everything but priority, scale and the signature's facts must agree on all ranks of the
/// collective.
struct CollectiveSpec {
  CollectiveId id;
  Collective collective = Collective::allReduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  uint64_t count = 0;            // elements of a segment, see program.hpp
  bool countPerRun = false;      // each run brings its count; then `count` is the most that one may have
  uint32_t root = 0;             // index into ranks, where the collective has a root
  std::vector<uint32_t> ranks;   // of the world, in the collective's order
  int32_t priority = 0;          // larger: more urgent; this rank's own affair
  double scale = 1.0;            // this rank's scalar of ReduceOp::scaledSum
  std::vector<uint8_t> program;  // one rank's binary program; empty: the built-in one
  SignatureFacts signature;      // where the id is one: for reports
  uint32_t mostBlocks = 0;       // of a run that is a kernel of its own; 0: as many as it likes
};

const char* nameOf(Collective collective);
const char* nameOf(DataType type);
const char* nameOf(ReduceOp op);
bool hasRoot(Collective collective);

/// The most elements that a segment can have.
uint64_t mostCount(DataType type, size_t ranks);
/// Whether its runs may have any count. @pre checkSpec()
bool takesAnyCount(const CollectiveSpec& spec);

/// @throws Error dfcclInvalidArgument that names the field, the value and what is allowed.
void checkSpec(const CollectiveSpec& spec, uint32_t rank, uint32_t worldSize);

/// @throws Error dfcclRegistrationMismatch that names the first field in which `rank`'s registration differs from the
/// agreed one. The digests are those of the programs.
void checkAgreement(const CollectiveSpec& agreed, uint64_t agreedDigest, const CollectiveSpec& spec, uint64_t digest,
                    uint32_t rank);

/// Elements that a rank's send and receive buffers hold (0: the buffer isn't used).
struct BufferSizes {
  uint64_t send;
  uint64_t recv;
};
BufferSizes bufferSizes(const CollectiveSpec& spec, uint32_t member);

}  // namespace dfccl
