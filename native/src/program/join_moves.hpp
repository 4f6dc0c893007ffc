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

  JointMoves view() const { return {arrayOf(moves), arrayOf(refs)}; }
  size_t memoryBytes() const { return moves.capacity() * sizeof(JointMove) + refs.capacity() * sizeof(JointRef); }
};

/// The members' steps one after the other, in as few moves as have the same result.
/// @param programs of each member; all of them with togetherBytes below kNeverTogether.
OwnedJointMoves joinMoves(std::span<const BoundProgram* const> programs);

}  // namespace dfccl
