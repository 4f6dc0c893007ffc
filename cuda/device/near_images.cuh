#pragma once
// Copies in a block's shared memory of what is constant of the collectives that it executes, and what it knows there of
// where its peers' buffers are.
#include "block/block_shared.cuh"
#include "block/fences.cuh"
#include "daemon/state/named_mailboxes.hpp"
#include "daemon/state/trace_point.hpp"
#include "staged_entries.cuh"
#include "team.cuh"

namespace dfccl::gpu {

class NearImages {
 public:
  /// Looks before a task counts as stuck. What a peer answers takes a microsecond or two, so fewer only cost visits;
  /// but what has come in may be what the peer waits for.
  __device__ static bool looksAgain(int look) {
    constexpr int kLooks = 16, kLooksBesideEntries = 4;
    return look < kLooksBesideEntries || (look < kLooks && !hasStagedEntry());
  }

  /// A copy of the record and of everything constant behind it, in shared memory. @param previous what this returned
  /// for the same task and run before, if anything. @param isStarted whether mailboxes of peers are known already.
  __device__ static const CollectiveRecord* nearView(uint32_t collective, const CollectiveRecord& record,
                                                     const CollectiveRecord* previous, bool isStarted) {
    const uint32_t place = collective % kNearImages;
    auto* image = reinterpret_cast<CollectiveImage*>(blockShared().images[place]);
    const bool isNear = blockShared().imageOwners[place] == collective;
    if (isNear && previous == &image->record) return previous;
    if (!isNear && !bringNear(collective, record, *image)) return &record;
    if (isStarted) recallMailboxes(image->places);
    return &image->record;
  }

  __device__ static uint32_t lookForMailboxes(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    if (places.windows != nullptr) return lookForNamed(places, run, known);
    constexpr uint32_t kAtOnce = 4;
    for (int look = 0; known < places.members && looksAgain(look); ++look) {
      uint64_t input[kAtOnce], output[kAtOnce];
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        const Mailbox& box = places.mailboxes[known + i < places.members ? known + i : places.members - 1];
        input[i] = box.input.load(order::relaxed);
        output[i] = box.output.load(order::relaxed);
      }
      const uint32_t first = known;
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        const bool isNext = known == first + i && known < places.members;
        if (!isNext || !Mailbox::isOfRun(input[i], run) || !Mailbox::isOfRun(output[i], run)) continue;
        places.knownMailboxes[known].input.store(input[i], order::relaxed);
        places.knownMailboxes[known].output.store(output[i], order::relaxed);
        ++known;
      }
    }
    // Nothing has to be acquired: what the workers read of peers' buffers, they read past the first-level cache.
    return known;
  }

 private:
  /// @return whether it has an image, and that has room.
  __device__ DFCCL_COLD static bool bringNear(uint32_t collective, const CollectiveRecord& record,
                                              CollectiveImage& image) {
    if (record.image == nullptr || record.imageBytes > kImageBytes) return false;
    writeTrace(blockShared().trace, TracePoint::contextLoading, collective);
    TeamOrder& order = blockShared().order;
    order.work = Work::loadImage;
    order.image = static_cast<const uint4*>(record.image);
    order.nearImage = reinterpret_cast<uint4*>(&image);
    order.bytes = record.imageBytes;
    gpu::carryOut();
    relocate(image, reinterpret_cast<const unsigned char*>(record.image));
    blockShared().imageOwners[collective % kNearImages] = collective;
    writeTrace(blockShared().trace, TracePoint::contextLoaded, collective);
    return true;
  }

  __device__ static bool isNear(const MeetingPlaces& places) { return __isShared(places.knownMailboxes); }

  /// Out of line: where all members are of one process, none of it is needed.
  __device__ DFCCL_COLD static uint32_t lookForNamed(const MeetingPlaces& places, uint64_t run, uint32_t known) {
    for (int look = 0; known < places.members && looksAgain(look); ++look) {
      known = NamedMailboxes::look(places, run, known, order::relaxed, isNear(places));
    }
    return known;
  }

  __device__ DFCCL_COLD static void recallMailboxes(const MeetingPlaces& places) {
    if (places.windows != nullptr) return NamedMailboxes::recall(places, isNear(places));
    for (uint32_t m = 0; m < places.members; ++m) {
      places.knownMailboxes[m].input.store(places.mailboxes[m].input.load(order::relaxed), order::relaxed);
      places.knownMailboxes[m].output.store(places.mailboxes[m].output.load(order::relaxed), order::relaxed);
    }
  }

  /// Points an image's pointers, which name places in the original, to the same places in the copy.
  __device__ static void relocate(CollectiveImage& image, const unsigned char* original) {
    auto* const copy = reinterpret_cast<unsigned char*>(&image);
    const auto move = [&](auto*& pointer) {
      using Pointer = std::remove_reference_t<decltype(pointer)>;
      pointer = reinterpret_cast<Pointer>(copy + (reinterpret_cast<const unsigned char*>(pointer) - original));
    };
    move(image.record.places);
    move(image.record.program);
    move(image.places.knownMailboxes);
    move(image.places.mailboxCopies);
    move(image.places.finishedAccessCopies);
    move(image.places.scratch);
    move(image.places.landings);
    move(image.places.scales);
    if (image.places.windows != nullptr) move(image.places.windows);
    move(image.program.blocks.items);
    move(image.program.connections.items);
    move(image.program.steps.items);
    move(image.program.refs.items);
    move(image.program.dependencies.items);
    move(image.program.chunks.items);
  }
};

}  // namespace dfccl::gpu
