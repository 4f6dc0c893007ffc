#include "engine_layout.hpp"

#include <cstddef>

#include "base/program.hpp"
#include "base/sqe.hpp"
#include "base/types.hpp"
#include "daemon/framing/protocols.hpp"
#include "daemon/state/rank_memory.hpp"
#include "dfccl/status.h"
#include "scheduling/scheduler.hpp"
#include "world/collective_spec.hpp"

namespace dfccl::addon {
namespace {

/// Codes by name, as the C++ side has them.
Napi::Object codes(Napi::Env env) {
  Napi::Object all = Napi::Object::New(env);
  const auto named = [&](const char* name, int count, auto nameOfCode) {
    Napi::Object object = Napi::Object::New(env);
    for (int code = 0; code < count; ++code) object.Set(nameOfCode(code), code);
    all.Set(name, object);
  };
  named("DataType", kDataTypeCount, [](int code) { return nameOf(static_cast<DataType>(code)); });
  named("ReduceOp", kReduceOpCount, [](int code) { return nameOf(static_cast<ReduceOp>(code)); });
  named("Collective", kCollectiveCount, [](int code) { return nameOf(static_cast<Collective>(code)); });
  named("Protocol", kProtocolCount, [](int code) { return nameOf(static_cast<Protocol>(code)); });
  const auto listed = [&](const char* name, std::initializer_list<std::pair<const char*, int>> list) {
    Napi::Object object = Napi::Object::New(env);
    for (const auto& [entry, code] : list) object.Set(entry, code);
    all.Set(name, object);
  };
#define CODE(scope, name) {#name, static_cast<int>(scope::name)}
  listed("Op",
         {CODE(Op, nop), CODE(Op, send), CODE(Op, recv), CODE(Op, copy), CODE(Op, reduce), CODE(Op, recvCopySend),
          CODE(Op, recvReduceCopy), CODE(Op, recvReduceSend), CODE(Op, recvReduceCopySend), CODE(Op, multiReduceCopy)});
  listed("BufferKind",
         {CODE(BufferKind, input), CODE(BufferKind, output), CODE(BufferKind, scratch), CODE(BufferKind, none)});
  listed("CqeStatus",
         {CODE(CqeStatus, free), CODE(CqeStatus, completed), CODE(CqeStatus, aborted), CODE(CqeStatus, mismatched)});
#undef CODE
  listed("Status", {{"SUCCESS", dfcclSuccess},
                    {"INVALID_ARGUMENT", dfcclInvalidArgument},
                    {"UNKNOWN_COLLECTIVE", dfcclUnknownCollective},
                    {"ALREADY_REGISTERED", dfcclAlreadyRegistered},
                    {"REGISTRATION_MISMATCH", dfcclRegistrationMismatch},
                    {"INVALID_PROGRAM", dfcclInvalidProgram},
                    {"OUT_OF_MEMORY", dfcclOutOfMemory},
                    {"QUEUE_FULL", dfcclQueueFull},
                    {"IN_USE", dfcclInUse},
                    {"CLOSED", dfcclClosed},
                    {"ABORTED", dfcclAborted},
                    {"TIMEOUT", dfcclTimeout},
                    {"SYSTEM", dfcclSystemError},
                    {"DEADLOCK", dfcclDeadlock},
                    {"UNAVAILABLE", dfcclUnavailable},
                    {"COUNT_MISMATCH", dfcclCountMismatch}});
  return all;
}

}  // namespace

Napi::Value engineLayout(const Napi::CallbackInfo& info) {
  Napi::Object layout = Napi::Object::New(info.Env());
  layout.Set("codes", codes(info.Env()));
  const auto record = [&](const char* name, size_t size, std::initializer_list<std::pair<const char*, size_t>> fields) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("size", static_cast<double>(size));
    for (const auto& [field, offset] : fields) object.Set(field, static_cast<double>(offset));
    layout.Set(name, object);
  };
#define FIELD(type, field) {#field, offsetof(type, field)}
  record("ProgramHeader", sizeof(ProgramHeader),
         {FIELD(ProgramHeader, magic),           FIELD(ProgramHeader, version),
          FIELD(ProgramHeader, totalBytes),      FIELD(ProgramHeader, flags),
          FIELD(ProgramHeader, rankCount),       FIELD(ProgramHeader, rank),
          FIELD(ProgramHeader, collective),      FIELD(ProgramHeader, protocol),
          FIELD(ProgramHeader, blockCount),      FIELD(ProgramHeader, connectionCount),
          FIELD(ProgramHeader, stepCount),       FIELD(ProgramHeader, refCount),
          FIELD(ProgramHeader, dependencyCount), FIELD(ProgramHeader, chunksPerSegment),
          FIELD(ProgramHeader, inputSegments),   FIELD(ProgramHeader, outputSegments),
          FIELD(ProgramHeader, scratchChunks),   FIELD(ProgramHeader, slotCount),
          FIELD(ProgramHeader, maxStepCount),    FIELD(ProgramHeader, root),
          FIELD(ProgramHeader, digest)});
  record("BlockRecord", sizeof(BlockRecord), {FIELD(BlockRecord, firstStep), FIELD(BlockRecord, stepCount)});
  record("ConnectionRecord", sizeof(ConnectionRecord),
         {FIELD(ConnectionRecord, peer), FIELD(ConnectionRecord, channel), FIELD(ConnectionRecord, isSend),
          FIELD(ConnectionRecord, block)});
  record("StepRecord", sizeof(StepRecord),
         {FIELD(StepRecord, op), FIELD(StepRecord, flags), FIELD(StepRecord, srcBuffer), FIELD(StepRecord, dstBuffer),
          FIELD(StepRecord, srcChunk), FIELD(StepRecord, dstChunk), FIELD(StepRecord, count),
          FIELD(StepRecord, sendConnection), FIELD(StepRecord, recvConnection), FIELD(StepRecord, remoteBuffer),
          FIELD(StepRecord, landingBuffer), FIELD(StepRecord, isAwaited), FIELD(StepRecord, remoteChunk),
          FIELD(StepRecord, landingChunk), FIELD(StepRecord, firstRef), FIELD(StepRecord, sourceCount),
          FIELD(StepRecord, destinationCount), FIELD(StepRecord, firstDependency), FIELD(StepRecord, dependencyCount)});
  record("ChunkRefRecord", sizeof(ChunkRefRecord),
         {FIELD(ChunkRefRecord, rank), FIELD(ChunkRefRecord, buffer), FIELD(ChunkRefRecord, chunk)});
  record("DependencyRecord", sizeof(DependencyRecord), {FIELD(DependencyRecord, block), FIELD(DependencyRecord, step)});
  record("SubmissionRingHeader", sizeof(SubmissionRingHeader),
         {FIELD(SubmissionRingHeader, tail), FIELD(SubmissionRingHeader, head),
          FIELD(SubmissionRingHeader, producerLock), FIELD(SubmissionRingHeader, capacity),
          FIELD(SubmissionRingHeader, needStart), FIELD(SubmissionRingHeader, waiters)});
  record("SqeMemory", sizeof(SqeMemory), {});
  record("OwnedSlotsHeader", sizeof(OwnedSlotsHeader),
         {FIELD(OwnedSlotsHeader, freed), FIELD(OwnedSlotsHeader, slotCount), FIELD(OwnedSlotsHeader, claimed),
          FIELD(OwnedSlotsHeader, used)});
  record("ControlRing", sizeof(ControlRing), {FIELD(ControlRing, tail), FIELD(ControlRing, head)});
  record("BlockCounters", sizeof(BlockCounters),
         {FIELD(BlockCounters, visits), FIELD(BlockCounters, stuckVisits), FIELD(BlockCounters, slices),
          FIELD(BlockCounters, preemptions), FIELD(BlockCounters, contextLoads), FIELD(BlockCounters, contextSaves),
          FIELD(BlockCounters, tasksTaken), FIELD(BlockCounters, tasksCompleted), FIELD(BlockCounters, queueLengthSum),
          FIELD(BlockCounters, queueLengthMax), FIELD(BlockCounters, bytesMoved)});
  record("RankCounters", sizeof(RankCounters),
         {FIELD(RankCounters, launches), FIELD(RankCounters, quits), FIELD(RankCounters, submissionsTaken),
          FIELD(RankCounters, completionsPosted)});
#undef FIELD
  record("SchedulePolicy", sizeof(scheduling::SchedulePolicy),
         {{"version", offsetof(scheduling::SchedulePolicy, version)},
          {"order.kind", offsetof(scheduling::SchedulePolicy, order.kind)},
          {"order.fetchEveryVisits", offsetof(scheduling::SchedulePolicy, order.fetchEveryVisits)},
          {"order.fetchWhenStuckVisits", offsetof(scheduling::SchedulePolicy, order.fetchWhenStuckVisits)},
          {"order.fetchBatch", offsetof(scheduling::SchedulePolicy, order.fetchBatch)},
          {"order.fetchesPerLap", offsetof(scheduling::SchedulePolicy, order.fetchesPerLap)},
          {"stickiness.kind", offsetof(scheduling::SchedulePolicy, stickiness.kind)},
          {"stickiness.initialThreshold", offsetof(scheduling::SchedulePolicy, stickiness.initialThreshold)},
          {"stickiness.minimumThreshold", offsetof(scheduling::SchedulePolicy, stickiness.minimumThreshold)},
          {"stickiness.maximumThreshold", offsetof(scheduling::SchedulePolicy, stickiness.maximumThreshold)},
          {"stickiness.perPositionDecrement", offsetof(scheduling::SchedulePolicy, stickiness.perPositionDecrement)},
          {"stickiness.raiseFactor256ths", offsetof(scheduling::SchedulePolicy, stickiness.raiseFactor256ths)},
          {"quit.kind", offsetof(scheduling::SchedulePolicy, quit.kind)},
          {"quit.idleVisits", offsetof(scheduling::SchedulePolicy, quit.idleVisits)},
          {"quit.idleTicks", offsetof(scheduling::SchedulePolicy, quit.idleTicks)},
          {"quit.residencyTicks", offsetof(scheduling::SchedulePolicy, quit.residencyTicks)},
          {"streams", offsetof(scheduling::SchedulePolicy, streams)}});
  return layout;
}

}  // namespace dfccl::addon
