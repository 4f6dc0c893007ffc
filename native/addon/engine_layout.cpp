#include "engine_layout.hpp"

#include <cstddef>

#include "dfccl/daemon/rank_memory.hpp"
#include "dfccl/program.hpp"
#include "dfccl/sqe.hpp"

namespace dfccl::addon {

Napi::Value engineLayout(const Napi::CallbackInfo& info) {
  Napi::Object layout = Napi::Object::New(info.Env());
  const auto record = [&](const char* name, size_t size, std::initializer_list<std::pair<const char*, size_t>> fields) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("size", static_cast<double>(size));
    for (const auto& [field, offset] : fields) object.Set(field, static_cast<double>(offset));
    layout.Set(name, object);
  };
#define FIELD(type, field) {#field, offsetof(type, field)}
  record("ProgramHeader", sizeof(ProgramHeader),
         {FIELD(ProgramHeader, magic), FIELD(ProgramHeader, version), FIELD(ProgramHeader, totalBytes), FIELD(ProgramHeader, flags),
          FIELD(ProgramHeader, rankCount), FIELD(ProgramHeader, rank), FIELD(ProgramHeader, collective), FIELD(ProgramHeader, protocol),
          FIELD(ProgramHeader, blockCount), FIELD(ProgramHeader, connectionCount), FIELD(ProgramHeader, stepCount),
          FIELD(ProgramHeader, refCount), FIELD(ProgramHeader, dependencyCount), FIELD(ProgramHeader, chunksPerSegment),
          FIELD(ProgramHeader, inputSegments), FIELD(ProgramHeader, outputSegments), FIELD(ProgramHeader, scratchChunks),
          FIELD(ProgramHeader, slotCount), FIELD(ProgramHeader, maxStepCount), FIELD(ProgramHeader, root), FIELD(ProgramHeader, digest)});
  record("BlockRecord", sizeof(BlockRecord), {FIELD(BlockRecord, firstStep), FIELD(BlockRecord, stepCount)});
  record("ConnectionRecord", sizeof(ConnectionRecord),
         {FIELD(ConnectionRecord, peer), FIELD(ConnectionRecord, channel), FIELD(ConnectionRecord, isSend), FIELD(ConnectionRecord, block)});
  record("StepRecord", sizeof(StepRecord),
         {FIELD(StepRecord, op), FIELD(StepRecord, flags), FIELD(StepRecord, srcBuffer), FIELD(StepRecord, dstBuffer),
          FIELD(StepRecord, srcChunk), FIELD(StepRecord, dstChunk), FIELD(StepRecord, count), FIELD(StepRecord, sendConnection),
          FIELD(StepRecord, recvConnection), FIELD(StepRecord, remoteBuffer), FIELD(StepRecord, landingBuffer), FIELD(StepRecord, isAwaited),
          FIELD(StepRecord, remoteChunk), FIELD(StepRecord, landingChunk), FIELD(StepRecord, firstRef), FIELD(StepRecord, sourceCount),
          FIELD(StepRecord, destinationCount), FIELD(StepRecord, firstDependency), FIELD(StepRecord, dependencyCount)});
  record("ChunkRefRecord", sizeof(ChunkRefRecord), {FIELD(ChunkRefRecord, rank), FIELD(ChunkRefRecord, buffer), FIELD(ChunkRefRecord, chunk)});
  record("DependencyRecord", sizeof(DependencyRecord), {FIELD(DependencyRecord, block), FIELD(DependencyRecord, step)});
  record("SubmissionRingHeader", sizeof(SubmissionRingHeader),
         {FIELD(SubmissionRingHeader, tail), FIELD(SubmissionRingHeader, head), FIELD(SubmissionRingHeader, producerLock),
          FIELD(SubmissionRingHeader, capacity), FIELD(SubmissionRingHeader, needStart), FIELD(SubmissionRingHeader, waiters)});
  record("OwnedSlotsHeader", sizeof(OwnedSlotsHeader),
         {FIELD(OwnedSlotsHeader, freed), FIELD(OwnedSlotsHeader, slotCount), FIELD(OwnedSlotsHeader, claimed)});
  record("BlockCounters", sizeof(BlockCounters),
         {FIELD(BlockCounters, visits), FIELD(BlockCounters, stuckVisits), FIELD(BlockCounters, slices), FIELD(BlockCounters, preemptions),
          FIELD(BlockCounters, contextLoads), FIELD(BlockCounters, contextSaves), FIELD(BlockCounters, tasksTaken),
          FIELD(BlockCounters, tasksCompleted), FIELD(BlockCounters, queueLengthSum), FIELD(BlockCounters, queueLengthMax),
          FIELD(BlockCounters, bytesMoved)});
  record("RankCounters", sizeof(RankCounters),
         {FIELD(RankCounters, launches), FIELD(RankCounters, quits), FIELD(RankCounters, submissionsTaken), FIELD(RankCounters, completionsPosted)});
#undef FIELD
  return layout;
}

}  // namespace dfccl::addon
