// Messages between two transports over UCX, and a peer that goes in the middle of one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "network/support/rendezvous_points.hpp"
#include "network/transport.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

struct Message {
  std::vector<uint8_t> header, payload;
  bool operator==(const Message&) const = default;
};

/// One end, and what it was told.
class Endpoint final : Transport::Events {
 public:
  Endpoint() : transport_(openUcxTransport()) {}

  std::vector<uint8_t> address() { return transport_->address(); }
  void connect(uint32_t peer, const std::vector<uint8_t>& address) {
    std::vector<std::vector<uint8_t>> addresses(2);
    addresses[peer] = address;
    transport_->connect(addresses, *this);
  }
  /// The memory is written over as soon as it may be.
  void send(uint32_t peer, const Message& message) {
    auto& kept = kept_.emplace_back(std::make_unique<std::vector<uint8_t>>(message.payload));
    transport_->send(peer, message.header, *kept, kept_.size() - 1);
  }
  void progress() { transport_->progress(); }
  void close() { transport_.reset(); }

  std::vector<Message> received_;
  size_t sent_ = 0;
  bool isLost_ = false;

 private:
  void received(std::span<const uint8_t> header, std::span<const uint8_t> payload) override {
    received_.push_back({{header.begin(), header.end()}, {payload.begin(), payload.end()}});
  }
  void sent(uint64_t cookie) override {
    std::fill(kept_[cookie]->begin(), kept_[cookie]->end(), uint8_t{0xee});
    ++sent_;
  }
  void lost(uint32_t, const std::string&) override { isLost_ = true; }

  std::vector<std::unique_ptr<std::vector<uint8_t>>> kept_;  // [cookie]
  std::unique_ptr<Transport> transport_;
};

struct Pair {
  Pair() {
    a.connect(1, b.address());
    b.connect(0, a.address());
  }
  /// Until that is so, or never will be.
  void progressUntil(const std::function<bool()>& isOver) {
    while (!isOver() && !a.isLost_ && !b.isLost_) {
      a.progress();
      b.progress();
    }
    REQUIRE(!a.isLost_);
    REQUIRE(!b.isLost_);
  }
  Endpoint a, b;
};

/// Of each size several, one behind the other.
std::vector<Message> messages(std::mt19937& random) {
  std::vector<Message> all;
  for (const size_t bytes : {0, 8, 1000, 65'535, 65'536, 65'537, 131'072, 262'144, 1 << 20}) {
    for (int i = 0; i < 6; ++i) {
      Message& m = all.emplace_back();
      m.header.resize(1 + random() % Transport::kMostHeaderBytes);
      m.payload.resize(bytes);
      for (uint8_t& byte : m.header) byte = static_cast<uint8_t>(random());
      for (uint8_t& byte : m.payload) byte = static_cast<uint8_t>(random());
    }
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// They may come in any order.
void sortAll(std::vector<Message>& list) {
  std::sort(list.begin(), list.end(), [](const Message& x, const Message& y) {
    return std::tie(x.header, x.payload) < std::tie(y.header, y.payload);
  });
}

}  // namespace

TEST_CASE("messages of all sizes come whole, both ways at once, and their memory is free once they are sent") {
  std::mt19937 random(5);
  Pair pair;
  std::vector<Message> there = messages(random), back = messages(random);
  for (size_t i = 0; i < there.size(); ++i) {
    pair.a.send(1, there[i]);
    pair.b.send(0, back[i]);
  }
  pair.progressUntil([&] {
    return pair.b.received_.size() == there.size() && pair.a.received_.size() == back.size() &&
           pair.a.sent_ == there.size() && pair.b.sent_ == back.size();
  });
  for (auto* list : {&there, &back, &pair.a.received_, &pair.b.received_}) sortAll(*list);
  CHECK(pair.b.received_ == there);
  CHECK(pair.a.received_ == back);
}

TEST_CASE("a sender outlives a peer that goes in the middle of a message, and gets its memory back") {
  std::mt19937 random(6);
  Pair pair;
  pair.a.send(1, {{1}, {2}});
  pair.progressUntil([&] { return pair.b.received_.size() == 1; });
  constexpr size_t kMore = 12;
  for (size_t i = 0; i < kMore; ++i) pair.a.send(1, {{3}, std::vector<uint8_t>(4 << 20, 4)});
  pair.progressUntil([&] { return pair.b.received_.size() >= 3; });
  pair.b.close();
  while (pair.a.sent_ < 1 + kMore) pair.a.progress();
  CHECK(pair.a.isLost_);
}

int main(int argc, char** argv) {
  setenv("UCX_TLS", "tcp", 1);
  unsetenv("UCX_ZCOPY_THRESH");
  if (!hasTransport()) return kSkipped;
  return doctest::Context(argc, argv).run();
}
