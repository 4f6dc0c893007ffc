#pragma once
// What a process of a world on several machines has after the meeting: where everybody is, and how to reach them.
#include <cstdint>
#include <memory>
#include <vector>

#include "network/hmac.hpp"
#include "network/transport.hpp"

namespace dfccl {

struct Network {
  std::vector<uint32_t> hostOf;                 // [rank]: numbers of machines, from 0, by their first rank
  std::vector<std::vector<uint8_t>> addresses;  // [rank]: for the transport; empty where memory is shared
  Digest key{};                                 // of this world alone: what its messages carry is derived from it
  std::unique_ptr<Transport> transport;
};

}  // namespace dfccl
