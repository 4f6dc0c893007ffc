#include "network/frame_channel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dfccl {

bool ByteStream::flush() {
  while (isSending()) {
    const ssize_t sent = ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<size_t>(sent);
  }
  out_.clear();
  sent_ = 0;
  return true;
}

bool ByteStream::fill(size_t most) {
  uint8_t buffer[16 << 10];
  while (in_.size() < most) {
    const ssize_t got = recv(socket_.get(), buffer, std::min(sizeof buffer, most - in_.size()), 0);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    in_.insert(in_.end(), buffer, buffer + got);
  }
  return true;
}

Digest FrameChannel::proofOf(Side from, uint64_t number, uint32_t kind, Bytes contents) const {
  return hmac(key_, {bytesOfObject(from), bytesOfObject(number), bytesOfObject(kind), contents});
}

void FrameChannel::send(uint32_t kind, Bytes contents) {
  const FrameHeader header{FrameHeader::kMagic, kind, static_cast<uint32_t>(contents.size()),
                           proofOf(side_, sent_++, kind, contents)};
  stream_.put(bytesOfObject(header));
  stream_.put(contents);
}

FrameChannel::Reading FrameChannel::read(Frame& frame, size_t mostBytes) {
  const Bytes waiting = stream_.waiting();
  FrameHeader header;
  if (waiting.size() < sizeof header) return Reading::none;
  std::memcpy(&header, waiting.data(), sizeof header);
  if (header.magic != FrameHeader::kMagic || header.bytes > mostBytes) return Reading::broken;
  if (waiting.size() - sizeof header < header.bytes) return Reading::none;
  const Bytes contents = waiting.subspan(sizeof header, header.bytes);
  const Side other = side_ == Side::host ? Side::guest : Side::host;
  if (!isEqual(header.proof, proofOf(other, received_, header.kind, contents))) return Reading::broken;
  ++received_;
  frame = {header.kind, {contents.begin(), contents.end()}};
  stream_.drop(sizeof header + header.bytes);
  return Reading::frame;
}

}  // namespace dfccl
