#pragma once
// What a host could do wrong when connectors go from one collective to the next.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "cpu/local_registration.hpp"
#include "world_shape.hpp"

namespace dfccl::test {

class ConnectorMistakes {
 public:
  explicit ConnectorMistakes(const HostMistakes& mistakes) : mistakes_(mistakes) {}

  /// Of a rank that leaves.
  void remember(const CollectiveRecord& record, uint32_t rank, const CollectiveSpec& spec) {
    const Array<const ConnectionRecord>& records = record.program->connections;
    for (size_t i = 0; i < records.size(); ++i) {
      const Connector& c = record.connections[i];
      if (mistakes_.reusesCountersAnew) {
        leftovers_[c.memory].assign(c.slots, c.slots + size_t{c.slotCount} * c.slotBytes);
      }
      if (mistakes_.lendsConnectorsEarly) loose_[keyOf(records[i], rank, spec)] = c;
    }
  }

  /// To a rank that has joined.
  void apply(const LocalRegistration& registration, CollectiveRecord& record, uint32_t rank,
             const CollectiveSpec& spec) {
    const Array<const ConnectionRecord>& records = record.program->connections;
    for (size_t i = 0; i < records.size(); ++i) {
      Connector& c = record.connections[i];
      if (mistakes_.lendsConnectorsEarly) {
        const ConnectionKey key = keyOf(records[i], rank, spec);
        const auto loose = loose_.find(key);
        c = lent_[&registration].try_emplace(key, loose == loose_.end() ? c : loose->second).first->second;
      }
      const auto leftover = leftovers_.find(c.memory);
      if (leftover == leftovers_.end()) continue;
      std::copy(leftover->second.begin(), leftover->second.end(), c.slots);
      c.memory->head.store(0, order::relaxed);
      c.memory->tail.store(0, order::relaxed);
      leftovers_.erase(leftover);
    }
  }

 private:
  using ConnectionKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // world ranks of source and destination, channel

  static ConnectionKey keyOf(const ConnectionRecord& c, uint32_t rank, const CollectiveSpec& spec) {
    const uint32_t peer = spec.ranks[c.peer];
    return c.isSend ? ConnectionKey{rank, peer, c.channel} : ConnectionKey{peer, rank, c.channel};
  }

  const HostMistakes mistakes_;
  std::map<const ConnectorMemory*, std::vector<uint8_t>> leftovers_;
  std::map<ConnectionKey, Connector> loose_;
  std::map<const LocalRegistration*, std::map<ConnectionKey, Connector>> lent_;
};

}  // namespace dfccl::test
