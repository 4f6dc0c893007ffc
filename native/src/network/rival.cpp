#include "network/rival.hpp"

#include "network/host_rendezvous_sides.hpp"

namespace dfccl::host_rendezvous {

using namespace rendezvous;

void Rival::look(const std::vector<SocketAddress>& addresses) {
  if (addresses.empty()) return;
  if (!stream_) {
    if (attempts_ != 0 && Clock::now() - asked_ < kAskAgain) return;
    ask(addresses[attempts_++ % addresses.size()]);
  }
  if (stream_ && (!hear() || Clock::now() - asked_ > kHelloTime)) {
    channel_.reset();
    stream_.reset();
  }
}

void Rival::ask(const SocketAddress& address) {
  asked_ = Clock::now();
  Descriptor connection = beginConnecting(address);
  if (connection.get() >= 0) stream_.emplace(std::move(connection));
}

bool Rival::hear() {
  if (meetsItself(stream_->descriptor())) return false;
  const bool isThere = stream_->fill(sizeof(Opening) + sizeof(FrameHeader) + kMostHelloBytes);
  if (!channel_ && sayHello(*stream_, channel_, options_, point_.secret, random_) == Greeting::stranger) return false;
  if (!stream_->flush()) return false;
  Frame frame;
  switch (channel_ ? channel_->read(frame, kMostHelloBytes) : FrameChannel::Reading::none) {
    case FrameChannel::Reading::none:
      return isThere;
    case FrameChannel::Reading::broken:
      return false;
    case FrameChannel::Reading::frame:
      break;
  }
  if (frame.kind == Kind::refused) throwRefusal(frame);
  return true;
}

}  // namespace dfccl::host_rendezvous
