#pragma once
// Messages over a TCP connection, each with a proof that it comes from who knows the job's secret, at this place of
// this conversation: HMAC over direction, number, kind and contents, under a key of both sides' random numbers. So
// nothing of another conversation, or of the other direction, or of earlier, passes.
//
//   | magic | kind | bytes | proof | contents ... |
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "network/hmac.hpp"
#include "os/descriptor.hpp"

namespace dfccl {

struct FrameHeader {
  static constexpr uint32_t kMagic = 0x314e4644;  // "DFN1"
  uint32_t magic;
  uint32_t kind;
  uint32_t bytes;
  Digest proof;
};
static_assert(sizeof(FrameHeader) == 44);

struct Frame {
  uint32_t kind;
  std::vector<uint8_t> contents;
};

/// Bytes to and from a socket that never blocks.
class ByteStream {
 public:
  explicit ByteStream(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  /// Something waits to be sent.
  bool isSending() const { return sent_ < out_.size(); }
  void put(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  /// Sends what the system takes now. @return false once the connection is over.
  bool flush();
  /// Receives what is there, until `most` bytes wait. @return false once the connection is over.
  bool fill(size_t most);
  Bytes waiting() const { return {in_.data(), in_.size()}; }
  void drop(size_t bytes) { in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(bytes)); }

 private:
  Descriptor socket_;
  std::vector<uint8_t> in_, out_;
  size_t sent_ = 0;
};

class FrameChannel {
 public:
  enum class Side : uint8_t { host, guest };
  enum class Reading : uint8_t { none, frame, broken };

  FrameChannel(ByteStream& stream, Side side, const Digest& key) : stream_(stream), side_(side), key_(key) {}

  void send(uint32_t kind, Bytes contents);
  /// The next frame, if all of it is there. Broken: malformed, too long, or not proven.
  Reading read(Frame& frame, size_t mostBytes);

 private:
  Digest proofOf(Side from, uint64_t number, uint32_t kind, Bytes contents) const;

  ByteStream& stream_;
  Side side_;
  Digest key_;
  uint64_t sent_ = 0, received_ = 0;
};

}  // namespace dfccl
