#pragma once
#include "daemon/state/records.hpp"
#include "world/collective_spec.hpp"

namespace dfccl {

/// What a collective's record says on any platform, before it has a program and places to meet at.
/// @param index in the rank's table. @param firstTask of its program blocks.
inline CollectiveRecord describedRecord(const CollectiveSpec& spec, uint32_t index, uint32_t member,
                                        uint32_t firstTask) {
  CollectiveRecord record{};
  record.id = spec.id.number;
  record.index = index;
  record.member = member;
  record.priority = spec.priority;
  record.type = spec.type;
  record.op = spec.op;
  record.hasCountPerRun = spec.countPerRun;
  record.firstTask = firstTask;
  return record;
}

}  // namespace dfccl
