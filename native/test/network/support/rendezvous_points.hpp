#pragma once
// Where the processes of a test meet as if they were on several machines.
#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "network/host_rendezvous.hpp"
#include "network/support/own_port.hpp"
#include "network/transport.hpp"

namespace dfccl::test {

inline constexpr char kSecret[] = "of this test alone";

/// What a program of tests ends with where the system doesn't let it do what it tests: ctest calls it skipped.
inline constexpr int kSkipped = 77;

/// Whether something here carries data between machines; else says what is missing.
inline bool hasTransport() {
  try {
    return !describeTransport().empty();
  } catch (const Error& e) {
    std::printf("skipped: %s\n", e.what());
    return false;
  }
}

/// @param host which of the make-believe machines.
inline RendezvousPoint pointOn(const OwnPort& port, uint32_t host) {
  return {"127.0.0.1", port.number(), kSecret, "machine " + std::to_string(host)};
}

}  // namespace dfccl::test
