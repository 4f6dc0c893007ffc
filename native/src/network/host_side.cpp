// Rank 0's side of a meeting of hosts.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>

#include "base/error.hpp"
#include "network/host_listener.hpp"
#include "network/host_rendezvous_sides.hpp"
#include "network/message.hpp"
#include "processes/rank_set.hpp"

namespace dfccl::host_rendezvous {
namespace {

using namespace rendezvous;

constexpr uint32_t kUnknown = 0xffffffff;

struct Visitor {
  explicit Visitor(Descriptor connection) : stream(std::move(connection)), since(Clock::now()) {}

  ByteStream stream;
  Clock::time_point since;
  Digest random = randomDigest();
  std::optional<FrameChannel> channel;  // once its random number is known
  uint32_t rank = kUnknown;             // once it has proven itself
  uint32_t process = 0;
  bool isOver = false;
};

class HostSide final : public HostRendezvous {
 public:
  HostSide(const RendezvousOptions& options, const RendezvousPoint& point)
      : options_(options),
        point_(point),
        deadline_(deadlineOf(options)),
        given_(options.shape.ranks),
        listener_(options_, point_, deadline_) {}

  std::vector<std::vector<uint8_t>> exchange(Bytes own) override {
    given_[0].emplace(own.begin(), own.end());
    while (!absent().empty()) serve();
    MessageWriter message;
    message.put(round_).put(options_.shape.ranks);
    std::vector<std::vector<uint8_t>> all;
    for (auto& given : given_) {
      message.putBytes(*given);
      all.push_back(std::move(*given));
      given.reset();
    }
    const std::vector<uint8_t> gathered = message.take();
    for (Visitor& v : visitors_) {
      if (v.rank != kUnknown) v.channel->send(Kind::gathered, gathered);
    }
    ++round_;
    deliver();
    return all;
  }

  void fail(dfcclResult_t status, const std::string& text) override { tellAll(status, text, {}); }

 private:
  void serve() {
    checkCancelled(options_);
    listener_.look();
    waitForVisitors(std::min(millisUntil(deadline_), kLookMillis), true);
    if (millisUntil(deadline_) != 0) return;
    const std::vector<uint32_t> ranks = absent();
    std::string text = missing(options_, ranks);
    if (strangers_ != 0) text += " " + std::to_string(strangers_) + " connections didn't prove to be of this job.";
    refuseAll(dfcclTimeout, text, ranks);
  }

  void waitForVisitors(int millis, bool listens) {
    std::vector<pollfd> polled{{listener_.descriptor(), static_cast<short>(listens ? POLLIN : 0), 0}};
    for (const Visitor& v : visitors_) {
      polled.push_back(
          {v.stream.descriptor(), static_cast<short>(v.stream.isSending() ? POLLIN | POLLOUT : POLLIN), 0});
    }
    poll(polled.data(), polled.size(), millis);
    size_t i = 1;
    for (Visitor& v : visitors_) {
      if (polled[i++].revents != 0) attend(v);
      if (v.rank == kUnknown && Clock::now() - v.since > kHelloTime) dismiss(v);
    }
    visitors_.remove_if([](const Visitor& v) { return v.isOver; });
    if (polled[0].revents != 0) welcome();
  }

  void welcome() {
    Descriptor connection = acceptFrom(listener_.descriptor());
    if (connection.get() < 0) return;
    // Who has proven nothing for longest makes room.
    const auto isStranger = [](const Visitor& v) { return v.rank == kUnknown; };
    const auto strangers = static_cast<size_t>(std::count_if(visitors_.begin(), visitors_.end(), isStranger));
    if (strangers >= kStrangers + options_.shape.ranks)
      visitors_.erase(std::find_if(visitors_.begin(), visitors_.end(), isStranger));
    Visitor& v = visitors_.emplace_back(std::move(connection));
    Opening opening{};
    std::memcpy(opening.magic, kMagic, sizeof kMagic);
    opening.random = v.random;
    v.stream.put(bytesOfObject(opening));
    if (!v.stream.flush()) v.isOver = true;
  }

  void attend(Visitor& v) {
    const size_t most =
        sizeof(Opening) + sizeof(FrameHeader) + (v.rank == kUnknown ? kMostHelloBytes : kMostContribution);
    const bool isThere = v.stream.fill(most);
    if (!v.stream.flush()) v.isOver = true;
    if (!v.channel) open(v);
    while (v.channel && !v.isOver && hear(v)) {
    }
    if (!isThere) dismiss(v);
  }

  void open(Visitor& v) {
    const Bytes waiting = v.stream.waiting();
    Opening opening;
    if (waiting.size() < sizeof opening) {
      const size_t known = std::min(waiting.size(), sizeof kMagic);
      if (!std::equal(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(known), kMagic)) dismiss(v);
      return;
    }
    std::memcpy(&opening, waiting.data(), sizeof opening);
    if (std::memcmp(opening.magic, kMagic, sizeof kMagic) != 0) return dismiss(v);
    if (listener_.reachesItself(opening.random)) v.isOver = true;
    v.stream.drop(sizeof opening);
    v.channel.emplace(v.stream, FrameChannel::Side::host, keyOf(point_.secret, v.random, opening.random));
  }

  bool hear(Visitor& v) {
    Frame frame;
    switch (v.channel->read(frame, v.rank == kUnknown ? kMostHelloBytes : kMostContribution)) {
      case FrameChannel::Reading::none:
        return false;
      case FrameChannel::Reading::broken:
        if (v.rank == kUnknown) {
          v.stream.put({reinterpret_cast<const uint8_t*>(kNotProven), sizeof kNotProven});
          (void)v.stream.flush();
        }
        dismiss(v);
        return false;
      case FrameChannel::Reading::frame:
        break;
    }
    if (v.rank == kUnknown) {
      greet(v, frame);
    } else if (frame.kind == Kind::contribution) {
      take(v, frame);
    } else if (frame.kind == Kind::failed) {
      MessageReader message(frame.contents);
      const auto status = static_cast<dfcclResult_t>(message.get<int32_t>());
      const std::string text = message.getText();
      refuseAll(status, text);
    }
    return true;
  }

  void greet(Visitor& v, const Frame& frame) {
    Hello hello{};
    if (frame.kind != Kind::hello || frame.contents.size() < sizeof hello.shape.version) return dismiss(v);
    std::memcpy(&hello, frame.contents.data(), std::min(frame.contents.size(), sizeof hello));
    const std::string job(hello.job, strnlen(hello.job, sizeof hello.job));
    const bool isWhole = frame.contents.size() == sizeof hello;
    if (isWhole && hello.rank == 0 && job != options_.job) {
      v.isOver = true;  // Rank 0 of another job asks who has its port, which it may have when this meeting is over.
      return;
    }
    // It has proven that it belongs to the job, so whatever is wrong with it is everybody's affair. Its options come
    // last: those of two processes that claim a rank may differ too, and that is not what is wrong.
    const uint32_t other = isWhole && job == options_.job ? processOf(hello.rank) : 0;
    v.rank = hello.rank;
    v.process = hello.pid;
    if (other != 0) {
      refuseAll(dfcclInUse,
                "Two processes claim rank " + std::to_string(hello.rank) + " of job \"" + options_.job +
                    "\": " + std::to_string(other) + " and " + std::to_string(hello.pid) + ".",
                {hello.rank});
    }
    if (const std::string text = difference(options_.shape, 0, hello.shape, hello.rank); !text.empty())
      refuseAll(dfcclRegistrationMismatch, text);
    if (job != options_.job) {
      refuseAll(dfcclRegistrationMismatch, "The job is \"" + job + "\" on rank " + std::to_string(hello.rank) +
                                               " and \"" + options_.job + "\" on rank 0.");
    }
    if (hello.rank >= options_.shape.ranks) {
      refuseAll(dfcclInUse,
                "Rank " + std::to_string(hello.rank) + " of job \"" + options_.job + "\" is not awaited: process " +
                    std::to_string(hello.pid) + " claims it.",
                {hello.rank});
    }
  }

  /// Which process has come as this rank; 0 if none has.
  uint32_t processOf(uint32_t rank) const {
    if (rank == 0) return static_cast<uint32_t>(getpid());
    for (const Visitor& v : visitors_) {
      if (v.rank == rank && !v.isOver) return v.process;
    }
    return 0;
  }

  void take(Visitor& v, const Frame& frame) {
    MessageReader message(frame.contents);
    const auto round = message.get<uint32_t>();
    const Bytes bytes = message.getBytes();
    if (!message.isWhole() || round != round_ || given_[v.rank]) return dismiss(v);
    given_[v.rank].emplace(bytes.begin(), bytes.end());
  }

  void dismiss(Visitor& v) {
    if (std::exchange(v.isOver, true)) return;
    if (v.rank == kUnknown) {
      ++strangers_;
      return;
    }
    // In the first round a rank that ends may be started again.
    given_[v.rank].reset();
    const uint32_t rank = std::exchange(v.rank, kUnknown);
    if (round_ != 0) {
      refuseAll(dfcclSystemError,
                "Rank " + std::to_string(rank) + " of job \"" + options_.job + "\" ended during the meeting.");
    }
  }

  std::vector<uint32_t> absent() const {
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < given_.size(); ++r) {
      if (!given_[r]) ranks.push_back(r);
    }
    return ranks;
  }

  /// Until everything is on its way, or those who should take it don't within a hello's time.
  void deliver() {
    const Clock::time_point until = Clock::now() + kHelloTime;
    for (;;) {
      bool isSending = false;
      for (Visitor& v : visitors_) {
        if (v.rank != kUnknown && !v.isOver && v.stream.flush()) isSending |= v.stream.isSending();
      }
      if (!isSending || millisUntil(until) == 0) return;
      poll(nullptr, 0, kRetryMillis);
    }
  }

  void tellAll(dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks) {
    const std::vector<uint8_t> refusal =
        MessageWriter().put(static_cast<int32_t>(status)).putText(text).put(RankSet::of(ranks)).take();
    for (Visitor& v : visitors_) {
      if (v.rank != kUnknown) v.channel->send(Kind::refused, refusal);
    }
    deliver();
  }

  [[noreturn]] void refuseAll(dfcclResult_t status, const std::string& text, const std::vector<uint32_t>& ranks = {}) {
    tellAll(status, text, ranks);
    throwRefused(status, text, ranks);
  }

  const RendezvousOptions options_;
  const RendezvousPoint point_;
  const Clock::time_point deadline_;
  uint32_t round_ = 0;
  std::vector<std::optional<std::vector<uint8_t>>> given_;  // [rank]: this round's
  std::list<Visitor> visitors_;                             // a channel refers to its visitor's stream
  uint64_t strangers_ = 0;
  HostListener listener_;
};

}  // namespace

std::unique_ptr<HostRendezvous> openHostSide(const RendezvousOptions& options, const RendezvousPoint& point) {
  return std::make_unique<HostSide>(options, point);
}

}  // namespace dfccl::host_rendezvous
