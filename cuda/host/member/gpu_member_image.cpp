// All that is constant in a member's record and behind it, in one piece, which a block keeps at hand.
#include <cstring>
#include <type_traits>

#include "device/daemon_kernel.cuh"
#include "host/member/gpu_member.hpp"
#include "host/member/gpu_member_others.hpp"

namespace dfccl::gpu {
namespace {

/// Lays records out behind one another, and knows where they will be on the device.
class ImageWriter {
 public:
  template <class T>
  size_t append(const T* items, size_t count) {
    const size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + count * sizeof(T));
    if (items != nullptr && count != 0) std::memcpy(bytes_.data() + at, items, count * sizeof(T));
    return at;
  }
  template <class T>
  size_t append(const std::vector<T>& items) {
    return append(items.data(), items.size());
  }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::vector<uint8_t> GpuMember::imageOf(const Others& others) const {
  CollectiveRecord record = record_;
  MeetingPlaces places = copy_.places;
  BoundProgram program = *program_;
  ImageWriter writer;
  const CollectiveImage empty{};
  writer.append(&empty, 1);
  const size_t knownAt = writer.append(std::vector<Mailbox>(members_));
  const size_t mailboxCopiesAt = writer.append(others.mailboxes);
  const size_t finishedCopiesAt = writer.append(others.finished);
  const size_t scratchAt = writer.append(others.scratch);
  const size_t landingsAt = writer.append(others.landings);
  const size_t scalesAt = writer.append(others.scales);
  const size_t windowsAt = copy_.windows == nullptr ? 0 : writer.append(others.windows);
  const size_t blocksAt = writer.append(program.blocks.data(), program.blocks.size());
  const size_t connectionsAt = writer.append(program.connections.data(), program.connections.size());
  const size_t stepsAt = writer.append(program.steps.data(), program.steps.size());
  const size_t refsAt = writer.append(program.refs.data(), program.refs.size());
  const size_t dependenciesAt = writer.append(program.dependencies.data(), program.dependencies.size());
  const size_t chunksAt = writer.append(program.chunks.data(), program.chunks.size());
  const size_t bytes = (writer.bytes().size() + 15) / 16 * 16;
  writer.bytes().resize(bytes);
  const auto point = [&](auto*& pointer, size_t at) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(image_ + at);
  };
  point(places.knownMailboxes, knownAt);
  point(places.mailboxCopies, mailboxCopiesAt);
  point(places.finishedAccessCopies, finishedCopiesAt);
  point(places.scratch, scratchAt);
  point(places.landings, landingsAt);
  point(places.scales, scalesAt);
  if (copy_.windows != nullptr) point(places.windows, windowsAt);
  point(program.blocks.items, blocksAt);
  point(program.connections.items, connectionsAt);
  point(program.steps.items, stepsAt);
  point(program.refs.items, refsAt);
  point(program.dependencies.items, dependenciesAt);
  point(program.chunks.items, chunksAt);
  auto* image = reinterpret_cast<CollectiveImage*>(writer.bytes().data());
  const auto offsetOf = [&](const auto& part) {
    return static_cast<size_t>(reinterpret_cast<const uint8_t*>(&part) - writer.bytes().data());
  };
  point(record.places, offsetOf(image->places));
  point(record.program, offsetOf(image->program));
  std::memcpy(static_cast<void*>(&image->record), &record, sizeof record);
  std::memcpy(static_cast<void*>(&image->places), &places, sizeof places);
  std::memcpy(static_cast<void*>(&image->program), &program, sizeof program);
  return std::move(writer.bytes());
}

void GpuMember::storeImage() {
  const std::vector<uint8_t> image = imageOf(*others_);
  arena_.store(image_, image.data(), image.size());
  // A block that sees the image sees how long it is.
  arena_.store(&home_.place->imageBytes, &imageBytes_, sizeof imageBytes_);
  arena_.store(&home_.place->image, &image_, sizeof image_);
}

}  // namespace dfccl::gpu
