#pragma once
// Two processes on machines of their own whose messages the test delivers, when and in whatever order it likes.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/links.hpp"

namespace dfccl::test {

/// Carries messages to another one of its kind, when it is told to and in whatever order.
class FakeTransport final : public Transport {
 public:
  struct Message {
    std::vector<uint8_t> header, payload;
    uint64_t cookie;
  };

  std::vector<uint8_t> address() override { return {}; }
  void connect(const std::vector<std::vector<uint8_t>>&, Events& events) override { events_ = &events; }
  void send(uint32_t, std::span<const uint8_t> header, std::span<const uint8_t> payload, uint64_t cookie) override {
    sent.push_back({{header.begin(), header.end()}, {payload.begin(), payload.end()}, cookie});
  }
  bool progress() override { return false; }
  int descriptor() const override { return -1; }
  bool arm() override { return true; }
  void close() override {}

  void deliverTo(FakeTransport& other) {
    for (const Message& m : std::exchange(sent, {})) deliver(m, other);
  }
  void deliver(const Message& message, FakeTransport& other) {
    other.events_->received(message.header, message.payload);
    events_->sent(message.cookie);
  }
  void lose(uint32_t rank) { events_->lost(rank, "cut"); }

  std::vector<Message> sent;

 private:
  Events* events_ = nullptr;
};

/// One of two processes or more, each on a machine of its own.
struct Side {
  Side(uint32_t rank, const Digest& key, Links::Receiver& receiver, uint32_t muteMillis = 1000, uint32_t ranks = 2) {
    for (uint32_t r = 0; r < ranks; ++r) network.hostOf.push_back(r);
    network.addresses.resize(ranks);
    network.key = key;
    auto made = std::make_unique<FakeTransport>();
    transport = made.get();
    network.transport = std::move(made);
    links.emplace(network, rank, muteMillis, receiver);
  }
  Network network;
  FakeTransport* transport;
  std::optional<Links> links;
};

}  // namespace dfccl::test
