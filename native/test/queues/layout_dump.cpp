// Prints the layouts that JavaScript shares as JSON. packages/queues/test/layout.test.ts compares them with its own.
#include <cstddef>
#include <cstdio>

#include "queues/completion_cas_slots.hpp"
#include "queues/completion_owned_slots.hpp"
#include "queues/completion_packed_ring.hpp"
#include "queues/completion_vanilla_ring.hpp"
#include "queues/flip_flop.hpp"
#include "queues/leader_broadcast.hpp"
#include "queues/spmc_submission.hpp"
#include "queues/submission_ring.hpp"
#include "queues/wave.hpp"

using namespace dfccl;

namespace {

struct Field {
  const char* name;
  unsigned long long value;
};

template <size_t N>
void print(const char* name, const Field (&fields)[N], bool isLast = false) {
  std::printf("  \"%s\": {", name);
  for (size_t i = 0; i < N; ++i) std::printf("%s\"%s\": %llu", i == 0 ? "" : ", ", fields[i].name, fields[i].value);
  std::printf("}%s\n", isLast ? "" : ",");
}

struct SqeWordsEntry {
  uint64_t words[kSqeWords];
};

/// One entry with a different value in every field, as the producer of each side must write it.
void printSampleEntry() {
  const Sqe sqe{.id = 0x89abcdef,
                .flags = 0x4321,
                .run = 0x123456789abc,
                .completionSlot = 0xfedcba98,
                .sendAddress = 0x7fffdeadbee8,
                .recvAddress = 0xffffffffffff,
                .count = 0x0badcafe1234,
                .sendWindow = 0xfedc,
                .recvWindow = 0x9876};
  const uint64_t position = (uint64_t{5} << 32) + 65534;
  uint64_t payload[kSqeWords];
  packSqe(sqe, position, payload);
  std::printf("  \"sampleEntry\": [");
  for (int i = 0; i < kSqeWords; ++i) {
    const uint64_t word = payload[i] | sqeSequence(position);
    std::printf("%s\"%016llx\"", i == 0 ? "" : ", ", static_cast<unsigned long long>(word));
  }
  std::printf("],\n");
}

}  // namespace

int main() {
  std::printf("{\n");
  print("submissionRing", {{"tail", offsetof(SubmissionRingHeader, tail)},
                           {"head", offsetof(SubmissionRingHeader, head)},
                           {"producerLock", offsetof(SubmissionRingHeader, producerLock)},
                           {"capacity", offsetof(SubmissionRingHeader, capacity)},
                           {"needStart", offsetof(SubmissionRingHeader, needStart)},
                           {"waiters", offsetof(SubmissionRingHeader, waiters)},
                           {"entries", sizeof(SubmissionRingHeader)},
                           {"entryBytes", sizeof(SqeMemory)},
                           {"maxCapacity", kMaxSubmissionCapacity},
                           {"bytes16", SubmissionRing::bytes(16)}});
  using Broadcast = LeaderBroadcast<SqeWordsEntry>;
  print("leaderBroadcast", {{"tail", offsetof(LeaderBroadcastHeader, tail)},
                            {"capacity", offsetof(LeaderBroadcastHeader, capacity)},
                            {"blockCount", offsetof(LeaderBroadcastHeader, blockCount)},
                            {"cursors", sizeof(LeaderBroadcastHeader)},
                            {"cursorBytes", sizeof(BroadcastCursor)},
                            {"entryBytes", sizeof(Plain<SqeWordsEntry>)},
                            {"bytes16x3", Broadcast::bytes(16, 3)}});
  print("spmcSubmission", {{"capacity", offsetof(SpmcHeader, capacity)},
                           {"blockCount", offsetof(SpmcHeader, blockCount)},
                           {"entries", sizeof(SpmcHeader)},
                           {"entryBytes", sizeof(SpmcEntry)},
                           {"words", offsetof(SpmcEntry, words)},
                           {"turn", offsetof(SpmcEntry, turn)},
                           {"readers", offsetof(SpmcEntry, readers)},
                           {"bytes16", SpmcSubmission::bytes(16)}});
  print("vanillaRing", {{"tail", offsetof(VanillaRingHeader, tail)},
                        {"capacity", offsetof(VanillaRingHeader, capacity)},
                        {"head", offsetof(VanillaRingHeader, head)},
                        {"lock", offsetof(VanillaRingHeader, lock)},
                        {"entries", sizeof(VanillaRingHeader)},
                        {"bytes16", CompletionVanillaRing<>::bytes(16)}});
  print("packedRing", {{"reserved", offsetof(PackedRingHeader, reserved)},
                       {"capacity", offsetof(PackedRingHeader, capacity)},
                       {"head", offsetof(PackedRingHeader, head)},
                       {"entries", sizeof(PackedRingHeader)},
                       {"lapShift", CompletionPackedRing<>::kLapShift},
                       {"bytes16", CompletionPackedRing<>::bytes(16)}});
  print("casSlots", {{"slotCount", offsetof(CasSlotsHeader, slotCount)},
                     {"slots", sizeof(CasSlotsHeader)},
                     {"bytes16", CompletionCasSlots<>::bytes(16)}});
  print("ownedSlots", {{"freed", offsetof(OwnedSlotsHeader, freed)},
                       {"slotCount", offsetof(OwnedSlotsHeader, slotCount)},
                       {"claimed", offsetof(OwnedSlotsHeader, claimed)},
                       {"used", offsetof(OwnedSlotsHeader, used)},
                       {"slots", sizeof(OwnedSlotsHeader)},
                       {"bytes16", CompletionOwnedSlots<>::bytes(16)}});
  print("flipFlop", {{"value", offsetof(FlipFlop<>, value)}, {"bytes", sizeof(FlipFlop<>)}});
  print("wave", {{"control", offsetof(Wave, control)}, {"counter", offsetof(Wave, counter)}, {"bytes", sizeof(Wave)}});
  print("paddedWord", {{"value", offsetof(WavePaddedWord, value)}, {"bytes", sizeof(WavePaddedWord)}});
  printSampleEntry();
  print("sqe", {{"words", kSqeWords}, {"exit", kSqeExit}, {"afterControl", kSqeAfterControl}, {"void", kSqeVoid}});
  std::printf("  \"sampleCompletion\": \"%016llx\",\n",
              static_cast<unsigned long long>(packCqe(0x89abcdef, CqeStatus::aborted, 0x123456)));
  print("status",
        {{"free", static_cast<unsigned>(CqeStatus::free)},
         {"completed", static_cast<unsigned>(CqeStatus::completed)},
         {"aborted", static_cast<unsigned>(CqeStatus::aborted)},
         {"mismatched", static_cast<unsigned>(CqeStatus::mismatched)}},
        true);
  std::printf("}\n");
}
