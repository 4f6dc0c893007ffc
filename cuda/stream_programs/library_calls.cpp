#include "stream_programs/library_calls.hpp"

namespace dfccl::gpu::programs {
namespace {

dfcclDataType_t typeOf(ElementType type) {
  switch (type) {
    case ElementType::int32:
      return dfcclInt32;
    case ElementType::int64:
      return dfcclInt64;
    case ElementType::float32:
      return dfcclFloat32;
    default:
      return dfcclFloat64;
  }
}

dfcclRedOp_t operatorOf(Operator op) {
  switch (op) {
    case Operator::min:
      return dfcclMin;
    case Operator::max:
      return dfcclMax;
    case Operator::avg:
      return dfcclAvg;
    default:
      return dfcclSum;
  }
}

}  // namespace

void registerCollective(const Collective& c, int id, int priority, dfcclRankCtx_t context) {
  const dfcclDevSet_t ranks{c.ranks.data(), static_cast<int>(c.ranks.size())};
  const dfcclDataType_t type = typeOf(c.type);
  const dfcclRedOp_t op = operatorOf(c.op);
  const auto root = static_cast<int>(c.root);
  switch (c.kind) {
    case Kind::allReduce:
      return PROGRAMS_OK(dfcclRegisterAllReduce(c.count, type, op, id, ranks, priority, context));
    case Kind::allGather:
      return PROGRAMS_OK(dfcclRegisterAllGather(c.count, type, id, ranks, priority, context));
    case Kind::reduceScatter:
      return PROGRAMS_OK(dfcclRegisterReduceScatter(c.count, type, op, id, ranks, priority, context));
    case Kind::reduce:
      return PROGRAMS_OK(dfcclRegisterReduce(c.count, type, op, root, id, ranks, priority, context));
    case Kind::broadcast:
      return PROGRAMS_OK(dfcclRegisterBroadcast(c.count, type, root, id, ranks, priority, context));
    case Kind::allToAll:
      return PROGRAMS_OK(dfcclRegisterAllToAll(c.count, type, id, ranks, priority, context));
    case Kind::gather:
      return PROGRAMS_OK(dfcclRegisterGather(c.count, type, root, id, ranks, priority, context));
    case Kind::scatter:
      return PROGRAMS_OK(dfcclRegisterScatter(c.count, type, root, id, ranks, priority, context));
    case Kind::sendRecv:
      return PROGRAMS_OK(dfcclRegisterSendRecv(c.count, type, root, id, ranks, priority, context));
    default:
      return PROGRAMS_OK(dfcclRegisterBarrier(id, ranks, priority, context));
  }
}

}  // namespace dfccl::gpu::programs
