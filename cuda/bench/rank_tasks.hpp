#pragma once
// What `ranks` lets each rank do, whether it is a thread or a process.
#include <cstdint>
#include <string>

#include "bench/seats.hpp"

namespace dfccl::gpu::bench {

/// Sums, gathers, memory of a pool, and buffers that are made anew. @throws SeatError: wrong results.
void checkRank(Seat& seat);
/// A model's gradients, each rank in an order of its own, several iterations, with device synchronizations in between.
void checkOrders(Seat& seat, const std::string& list, uint64_t iterations);
/// Times of `outstanding` all-reduces of one size at a time, each of an id of its own.
/// @param isAllocated in memory of the library's.
void timeSums(Seat& seat, uint64_t bytes, uint32_t outstanding, bool isAllocated);
/// Messages between two ranks: to and fro, and many one behind the other.
void timeMessages(Seat& seat, uint64_t bytes);
/// Runs until rank 1 is gone, then goes on without it. Word 0 of the barrier counts runs of rank 1, so that whoever
/// strikes it knows that it is at it.
void workUntilStruck(Seat& seat, bool isLarge);
/// Of rank 1, whose machine is cut off meanwhile: until it is told that it can't go on alone.
void workUntilCutOff(Seat& seat, bool isLarge);

}  // namespace dfccl::gpu::bench
