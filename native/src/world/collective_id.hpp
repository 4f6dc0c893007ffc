#pragma once
// By what the ranks of a collective find each other.
#include <compare>
#include <cstdint>
#include <string>

namespace dfccl {

/// A number of the caller's, or the 128 bits that stand for a signature (see matching/signature.hpp).
struct CollectiveId {
  uint32_t number = 0;  // of a signature a part of it, for what has room for 32 bits only and doesn't match by it
  uint64_t high = 0, low = 0;  // 0 both: it is no signature

  CollectiveId() = default;
  CollectiveId(uint32_t number) : number(number) {}  // NOLINT: a number is an id
  static CollectiveId ofSignature(uint64_t high, uint64_t low) {
    CollectiveId id(static_cast<uint32_t>(low));
    id.high = high;
    id.low = low;
    return id;
  }

  /// By which the ranks of a collective find each other for the runs of it that a graph carries out.
  /// @param graph see GraphNumbers
  CollectiveId ofCaptured(uint32_t graph) const {
    CollectiveId id = *this;
    id.high ^= 0x6361707475726564 ^ graph * 0x9e3779b97f4a7c15;
    id.low ^= uint64_t{number} << 32 | 1;
    return id;
  }

  bool isSignature() const { return (high | low) != 0; }
  /// As reports name it: "7", or "of signature 0123456789abcdef".
  std::string text() const;

  auto operator<=>(const CollectiveId&) const = default;
};

}  // namespace dfccl
