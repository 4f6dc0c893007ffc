#pragma once
// How the processes of a world on several machines find each other: rank 0 listens on an address that all know, the
// others connect, and both sides prove that they know the job's secret. What the meeting then does is one thing: hand
// everybody's contribution to everybody, round after round (who is on which machine; how to be reached).
//
//   rank r                                       rank 0
//                                  <--   magic, random number          (as soon as it is connected)
//     magic, random number         -->
//     hello {shape, rank, job}     -->   proven? known rank? same shape? else refused, by name
//     contribution {round, bytes}  -->   when all ranks' are there:
//                                  <--   gathered {round, everybody's}
//
// From the random numbers on everything is a frame with a proof (frame_channel.hpp). Whoever proves nothing is closed
// after five seconds at the latest, may send no more than a hello's bytes, and makes room for the next where there are
// too many; ranks are never closed for that. Nothing waits for longer than the time limit.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "network/hmac.hpp"
#include "processes/rendezvous_options.hpp"

namespace dfccl {

/// Where a world of several machines meets, and what it proves itself with.
struct RendezvousPoint {
  std::string host;  // rank 0's, as the others see it
  uint16_t port = 0;
  std::string secret;    // the same in all processes; may be empty only on loopback
  std::string hostName;  // of the machine that this process is on; empty: what the system says
};

/// What tells machines apart: processes with the same can share memory. A container with a network of its own is one.
std::string hostIdentity();

/// Of a secret that strangers can't guess.
inline constexpr size_t kFewestSecretBytes = 16;

class HostRendezvous {
 public:
  virtual ~HostRendezvous() = default;

  /// Everybody's contribution, by rank. Every process calls it as often as the others.
  /// @throws Error dfcclTimeout naming the ranks that are missing; dfcclRegistrationMismatch naming what two ranks
  /// disagree on; dfcclInUse where two processes claim one rank or the address; dfcclAborted where it was cancelled;
  /// dfcclSystemError; whatever another rank gave to fail().
  virtual std::vector<std::vector<uint8_t>> exchange(Bytes own) = 0;
  /// Tells all others why this rank can't go on.
  virtual void fail(dfcclResult_t status, const std::string& text) = 0;
};

/// Goes to the meeting as `options.rank`. @throws Error dfcclInvalidArgument where the address could be reached by
/// strangers and there is no secret; dfcclUnavailable without libcrypto; what exchange() throws.
std::unique_ptr<HostRendezvous> openHostRendezvous(const RendezvousOptions& options, const RendezvousPoint& point);

namespace host_rendezvous {

// What travels, for tests that send something else.
inline constexpr char kMagic[8] = {'d', 'f', 'c', 'c', 'l', 'N', '0', '1'};
struct Opening {
  char magic[8];
  Digest random;
};
struct Hello {
  SegmentShape shape;  // first, so that other versions read at least whose it is
  uint32_t rank;
  uint32_t pid;
  char job[128];
};
enum Kind : uint32_t { hello, contribution, gathered, failed, refused };
/// In place of a frame, to who has proven nothing: that it hasn't.
inline constexpr char kNotProven[8] = {'n', 'o', 't', ' ', 'y', 'o', 'u', '\n'};

Digest keyOf(const std::string& secret, const Digest& hostRandom, const Digest& guestRandom);

}  // namespace host_rendezvous
}  // namespace dfccl
