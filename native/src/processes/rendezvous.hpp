#pragma once
// How the processes of a world find each other on one machine: the first of them, rank 0 unless some are on other
// machines, listens on a Unix socket whose name all of them derive from the job's, the others connect, say who they are
// and get the segment's descriptor. When all have mapped it, it lets them go and the socket is gone.
//
//   rank r                                   rank 0
//     Hello {rank, pid, shape, ...}   -->      same user? known rank? same shape? else refused, by name
//     Answer {segment} + descriptor   <--      when all have come: at an address that is free in all of them
//     Ready                           -->      when all are ready:
//     Answer {go}                     <--
//
// The kernel vouches for the user on the other end. Whatever else a stranger sends is dropped with its connection.
// Nothing waits for longer than the time limit, and there are never more connections than ranks and a few.
#include <cstdint>
#include <memory>
#include <string>

#include "processes/rank_set.hpp"
#include "processes/rendezvous_options.hpp"

namespace dfccl {

/// Waits until all members are here. @return the memory that they share, joined.
/// @throws Error dfcclTimeout naming the ranks that are missing; dfcclRegistrationMismatch naming what two ranks
/// disagree on; dfcclAborted where it was cancelled; dfcclInUse where two processes claim one rank or one job;
/// dfcclSystemError, dfcclOutOfMemory.
std::shared_ptr<Segment> meet(const RendezvousOptions& options);

namespace rendezvous {

// What travels, for tests that send something else.
struct Hello {
  char magic[8];
  uint32_t rank;
  uint32_t pid;
  SegmentShape shape;
  uint64_t freePlaces;  // SegmentPlaces
};
struct Answer {
  enum Kind : uint32_t { segment, go, refused };
  char magic[8];
  Kind kind;
  int32_t status;  // dfcclResult_t, where refused
  char text[240];
  RankSet ranks;  // that a refusal is about: who didn't come, or is claimed twice
};
inline constexpr char kMagic[8] = {'d', 'f', 'c', 'c', 'l', 'J', '0', '2'};

/// The socket's address, without the zero byte in front of it.
std::string socketName(const std::string& job);

}  // namespace rendezvous
}  // namespace dfccl
