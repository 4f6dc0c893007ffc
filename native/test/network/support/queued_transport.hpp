#pragma once
// A process with threads of its own, whose network is the test's: what comes to it, and in which order.
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "network/announcement.hpp"
#include "network/transport.hpp"
#include "os/descriptor.hpp"

namespace dfccl::test {

class QueuedTransport final : public Transport {
 public:
  QueuedTransport() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  std::vector<uint8_t> address() override { return {}; }
  void connect(const std::vector<std::vector<uint8_t>>&, Events& events) override { events_ = &events; }
  void send(uint32_t rank, std::span<const uint8_t>, std::span<const uint8_t> payload, uint64_t cookie) override {
    const std::lock_guard lock(mutex_);
    sent_.push_back({rank, {payload.begin(), payload.end()}});
    hasSent_.notify_all();
    put([=](Events& events) { events.sent(cookie); });
  }
  bool progress() override {
    std::function<void(Events&)> next;
    {
      const std::lock_guard lock(mutex_);
      if (coming_.empty()) return false;
      next = std::move(coming_.front());
      coming_.pop_front();
    }
    next(*events_);
    return true;
  }
  int descriptor() const override { return bell_.get(); }
  bool arm() override {
    const std::lock_guard lock(mutex_);
    uint64_t count;
    if (coming_.empty()) (void)!read(bell_.get(), &count, sizeof count);
    return coming_.empty();
  }
  void close() override {}

  /// The next message that comes.
  void deliver(std::vector<uint8_t> header, std::vector<uint8_t> payload) {
    const std::lock_guard lock(mutex_);
    put([header = std::move(header), payload = std::move(payload)](Events& events) {
      events.received(header, payload);
    });
  }
  void lose(uint32_t rank) {
    const std::lock_guard lock(mutex_);
    put([=](Events& events) { events.lost(rank, "cut"); });
  }
  /// Waits until the process has sent such a note to a rank.
  Note awaitNote(uint32_t rank, NoteKind kind) {
    std::unique_lock lock(mutex_);
    for (size_t seen = 0;; ++seen) {
      hasSent_.wait(lock, [&] { return sent_.size() > seen; });
      const auto& [to, payload] = sent_[seen];
      if (to != rank) continue;
      if (std::optional<Note> note = decodeNote(payload, 0); note && note->kind == kind) return *note;
    }
  }
  /// What the process has told a rank, up to its announcement of a collective; waits for that.
  std::vector<NoteKind> kindsBefore(uint32_t rank, const CollectiveId& id) {
    std::vector<NoteKind> kinds;
    std::unique_lock lock(mutex_);
    for (size_t seen = 0;; ++seen) {
      hasSent_.wait(lock, [&] { return sent_.size() > seen; });
      const auto& [to, payload] = sent_[seen];
      const std::optional<Note> note = to == rank ? decodeNote(payload, 0) : std::nullopt;
      if (!note) continue;
      if (note->kind == NoteKind::registered && note->announcement.spec.id == id) return kinds;
      kinds.push_back(note->kind);
    }
  }

 private:
  void put(std::function<void(Events&)> event) {
    coming_.push_back(std::move(event));
    const uint64_t one = 1;
    (void)!write(bell_.get(), &one, sizeof one);
  }

  std::mutex mutex_;
  std::condition_variable hasSent_;
  std::deque<std::function<void(Events&)>> coming_;
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> sent_;
  Descriptor bell_;
  Events* events_ = nullptr;
};

}  // namespace dfccl::test
