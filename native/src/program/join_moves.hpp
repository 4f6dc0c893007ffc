#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "daemon/state/bound_program.hpp"
#include "daemon/state/joint_moves.hpp"

namespace dfccl {

/// JointMoves and the memory of its tables.
struct OwnedJointMoves {
  std::vector<JointMove> moves;
  std::vector<JointRef> refs;

  uint64_t bytesOfOne = 0;

  JointMoves view() const { return {arrayOf(moves), arrayOf(refs), bytesOfOne}; }
  size_t memoryBytes() const { return moves.capacity() * sizeof(JointMove) + refs.capacity() * sizeof(JointRef); }
};

/// The members' steps one after the other, in as few moves as have the same result.
/// @param programs of each member; all of them with togetherBytes below kNeverTogether.
OwnedJointMoves joinMoves(std::span<const BoundProgram* const> programs);

/// The same where runs bring their counts: as for a count of one.
/// @return none where a program does more than move what is in the members' buffers, where some move is not of whole
/// segments, or where a run of one element moves more than `mostBytes`.
OwnedJointMoves joinMovesOfOne(std::span<const BoundProgram* const> programs, uint64_t mostBytes);

}  // namespace dfccl
