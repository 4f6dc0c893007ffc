// Any other rank's side of a meeting of hosts.
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "network/hello.hpp"
#include "network/host_rendezvous_sides.hpp"
#include "network/message.hpp"
#include "network/tcp.hpp"

namespace dfccl::host_rendezvous {
namespace {

using namespace rendezvous;

constexpr int kConnectMillis = 2000;
constexpr uint32_t kMostReopened = 5;
// What all ranks contribute comes in one piece.
constexpr size_t kMostGathered = 64 << 20;

class GuestSide final : public HostRendezvous {
 public:
  GuestSide(const RendezvousOptions& options, const RendezvousPoint& point)
      : options_(options),
        point_(point),
        deadline_(deadlineOf(options)),
        host_("Rank 0 of job \"" + options.job + "\" at " + point.host + ":" + std::to_string(point.port)) {
    open();
  }

  std::vector<std::vector<uint8_t>> exchange(Bytes own) override {
    if (own.size() > kMostContribution - 64) {
      throw Error(dfcclSystemError,
                  "This rank's contribution to the meeting has " + std::to_string(own.size()) + " bytes.",
                  "Let UCX use fewer devices (UCX_NET_DEVICES).");
    }
    channel_->send(Kind::contribution, MessageWriter().put(round_).putBytes(own).take());
    for (;;) {
      std::optional<Frame> answer = await();
      if (!answer) {
        // Rank 0 closes who is slow where strangers crowd in; and it may have been started again.
        if (round_ != 0 || ++reopened_ > kMostReopened) lost();
        open();
        channel_->send(Kind::contribution, MessageWriter().put(round_).putBytes(own).take());
        continue;
      }
      const Frame& frame = *answer;
      if (frame.kind != Kind::gathered) continue;
      MessageReader message(frame.contents);
      const auto round = message.get<uint32_t>();
      std::vector<std::vector<uint8_t>> all(message.getCount(sizeof(uint32_t)));
      for (auto& given : all) {
        const Bytes bytes = message.getBytes();
        given.assign(bytes.begin(), bytes.end());
      }
      if (!message.isWhole() || round != round_ || all.size() != options_.shape.ranks) lost();
      ++round_;
      return all;
    }
  }

  void fail(dfcclResult_t status, const std::string& text) override {
    channel_->send(Kind::failed, MessageWriter().put(static_cast<int32_t>(status)).putText(text).take());
    const Clock::time_point until = Clock::now() + kHelloTime;
    while (stream_->flush() && stream_->isSending() && millisUntil(until) != 0) poll(nullptr, 0, kRetryMillis);
  }

 private:
  /// Until something answers as rank 0 would: another program may have the port for a moment.
  void open() {
    while (!tryOpen()) {
      if (millisUntil(deadline_) == 0)
        throwRefused(dfcclTimeout,
                     host_ + " did not come within " + secondsOf(options_) + ", or isn't reached from here.", {0});
      checkCancelled(options_);
      poll(nullptr, 0, kRetryMillis);
    }
  }

  bool tryOpen() {
    for (const SocketAddress& address : resolve(point_.host, point_.port)) {
      Descriptor connection = connectTo(address, std::min(millisUntil(deadline_), kConnectMillis));
      if (connection.get() < 0) continue;
      stream_.emplace(std::move(connection));
      if (open(std::min(deadline_, Clock::now() + kHelloTime))) return true;
      stream_.reset();
    }
    return false;
  }

  bool open(Clock::time_point until) {
    const Digest random = randomDigest();
    for (;;) {
      const bool isThere = stream_->fill(sizeof(Opening));
      const Greeting greeting = sayHello(*stream_, channel_, options_, point_.secret, random);
      if (greeting != Greeting::waiting) return greeting == Greeting::said && stream_->flush();
      if (!isThere || !wait(until)) return false;
    }
  }

  bool wait(Clock::time_point until) {
    checkCancelled(options_);
    pollfd polled{stream_->descriptor(), static_cast<short>(stream_->isSending() ? POLLIN | POLLOUT : POLLIN), 0};
    poll(&polled, 1, std::min(millisUntil(until), kLookMillis));
    return millisUntil(until) != 0;
  }

  /// The next frame, or nothing once the connection is over.
  std::optional<Frame> await() {
    // Rank 0 says why, shortly after its own limit.
    const Clock::time_point until = deadline_ + kHelloTime;
    for (;;) {
      if (!stream_->flush()) return std::nullopt;
      const bool isThere = stream_->fill(kMostGathered);
      Frame frame;
      const FrameChannel::Reading reading = channel_->read(frame, kMostGathered);
      if (reading == FrameChannel::Reading::broken) refuseProof();
      if (reading == FrameChannel::Reading::frame) {
        if (frame.kind != Kind::refused) return frame;
        throwRefusal(frame);
      }
      if (!isThere) {
        if (isNotProven()) refuseProof();
        return std::nullopt;
      }
      if (!wait(until)) throwRefused(dfcclTimeout, host_ + " gave no answer.");
    }
  }

  bool isNotProven() const {
    const Bytes waiting = stream_->waiting();
    return waiting.size() >= sizeof kNotProven && std::memcmp(waiting.data(), kNotProven, sizeof kNotProven) == 0;
  }

  [[noreturn]] void refuseProof() {
    throw Error(dfcclInvalidArgument,
                isNotProven() ? host_ + " does not take this process for one of the job: their secrets differ."
                              : "What answers at " + point_.host + ":" + std::to_string(point_.port) +
                                    " does not prove to be rank 0 of job \"" + options_.job + "\".",
                "Give all processes of the job the same DFCCL_JOB_SECRET, and the job a port of its own.",
                {{"field", "DFCCL_JOB_SECRET"}});
  }

  [[noreturn]] void lost() {
    throw Error(dfcclSystemError, host_ + " ended before all ranks had come.", "See what its process says.",
                {{"job", options_.job}});
  }

  const RendezvousOptions options_;
  const RendezvousPoint point_;
  const Clock::time_point deadline_;
  const std::string host_;
  uint32_t round_ = 0;
  uint32_t reopened_ = 0;
  std::optional<ByteStream> stream_;
  std::optional<FrameChannel> channel_;
};

}  // namespace

std::unique_ptr<HostRendezvous> openGuestSide(const RendezvousOptions& options, const RendezvousPoint& point) {
  return std::make_unique<GuestSide>(options, point);
}

}  // namespace dfccl::host_rendezvous
