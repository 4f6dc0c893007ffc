#include "matching/signature.hpp"

namespace dfccl {
namespace {

/// Two lanes of 64 bits, mixed word by word with the finalizer of SplitMix64 (Steele, Lea, Flood 2014) under different
/// increments. The words come from the caller's own program, so nobody has to be kept from finding collisions.
class Mixer {
 public:
  void add(uint64_t word) {
    high_ = mix(high_ + 0x9e3779b97f4a7c15 + word);
    low_ = mix((low_ ^ word) * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d);
  }
  uint64_t high() const { return mix(high_ ^ (low_ << 32 | low_ >> 32)); }
  /// Never 0, which would say that there is no signature.
  uint64_t low() const { return mix(low_ + high_) | 1; }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  uint64_t high_ = 0x6466636c2d736967, low_ = 0x6d61746368696e67;
};

/// A bijection of 32 bits in which each bit of the word changes half of those of the result (Wellons 2018, lowbias32).
/// JavaScript multiplies no more than 32 bits without an object.
uint32_t mix32(uint32_t z) {
  z = (z ^ z >> 16) * 0x7feb352d;
  z = (z ^ z >> 15) * 0x846ca68b;
  return z ^ z >> 16;
}

}  // namespace

GroupId GroupId::of(std::span<const uint32_t> ranks, uint64_t name, uint64_t ordinal) {
  Mixer mixer;
  mixer.add(ranks.size());
  for (const uint32_t rank : ranks) mixer.add(rank);
  mixer.add(name);
  mixer.add(ordinal);
  return {mixer.high(), mixer.low()};
}

uint64_t GroupId::nameOfPart(uint64_t split, uint32_t colour) const {
  Mixer mixer;
  for (const uint64_t word : {high, low, split, uint64_t{colour}}) mixer.add(word);
  return mixer.high();
}

uint64_t hashOfCounts(std::span<const uint64_t> counts) {
  uint32_t low = 0x6466636c, high = 0x636f756e;
  const auto add = [&](uint32_t word) {
    low = mix32(low + word);
    high = mix32((high ^ word) + 0x9e3779b1);
  };
  for (const uint64_t count : counts) {
    add(static_cast<uint32_t>(count));
    add(static_cast<uint32_t>(count >> 32));
  }
  return uint64_t{high & 0x1fffff} << 32 | low;
}

CollectiveId idOf(const Signature& s) {
  Mixer mixer;
  mixer.add(s.group.high);
  mixer.add(s.group.low);
  mixer.add(uint64_t{static_cast<uint32_t>(s.purpose)} << 32 | static_cast<uint32_t>(s.collective));
  mixer.add(uint64_t{static_cast<uint32_t>(s.type)} << 32 | static_cast<uint32_t>(s.op));
  mixer.add(uint64_t{s.root} << 32 | s.receiver);
  mixer.add(s.count);
  mixer.add(s.tag);
  if (s.countsHash != 0) mixer.add(s.countsHash);
  const CollectiveId id = CollectiveId::ofSignature(mixer.high(), mixer.low());
  return s.isCaptured() ? id.ofCaptured(s.graph) : id;
}

}  // namespace dfccl
