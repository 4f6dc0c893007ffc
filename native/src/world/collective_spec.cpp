#include "world/collective_spec.hpp"

#include <algorithm>
#include <cfloat>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/error.hpp"
#include "base/own_operators.hpp"
#include "world/collective_name.hpp"

namespace dfccl {

const char* nameOf(Collective collective) {
  static const char* const names[kCollectiveCount] = {"all-reduce", "all-gather", "reduce-scatter", "reduce",
                                                      "broadcast",  "all-to-all", "gather",         "scatter",
                                                      "send-recv",  "barrier",    "custom"};
  return names[static_cast<int>(collective)];
}

const char* nameOf(DataType type) {
  static const char* const names[kDataTypeCount] = {"int8",    "uint8",    "int32",      "uint32",
                                                    "int64",   "uint64",   "float16",    "float32",
                                                    "float64", "bfloat16", "float8e4m3", "float8e5m2"};
  return names[static_cast<int>(type)];
}

const char* nameOf(ReduceOp op) {
  static const char* const names[kReduceOpCount] = {"sum",        "prod",    "min",    "max",    "avg",
                                                    "scaled-sum", "bit-and", "bit-or", "bit-xor"};
  if (!isOwn(op)) return names[static_cast<int>(op)];
  static const std::vector<std::string> ownNames = [] {
    std::vector<std::string> made;
    for (int number = 0; number < kOwnOps; ++number) made.push_back("own operator " + std::to_string(number));
    return made;
  }();
  return ownNames[static_cast<size_t>(static_cast<int>(op) - kFirstOwnOp)].c_str();
}

bool hasRoot(Collective collective) {
  return collective == Collective::reduce || collective == Collective::broadcast || collective == Collective::gather ||
         collective == Collective::scatter || collective == Collective::sendRecv;
}

namespace {

std::string subjectOf(const CollectiveSpec& spec) {
  const bool hasNames = static_cast<int>(spec.collective) < kCollectiveCount &&
                        static_cast<int>(spec.type) < kDataTypeCount && isKnown(spec.op);
  return hasNames && spec.id.isSignature() ? "The " + nameOf(spec) : "Collective " + spec.id.text();
}

[[noreturn]] void refuse(const CollectiveSpec& spec, const std::string& field, const std::string& value,
                         const std::string& allowed) {
  throw Error(dfcclInvalidArgument, subjectOf(spec) + ": " + field + " is " + value + ".", "Allowed: " + allowed + ".",
              {{"id", spec.id.text()}, {"field", field}, {"value", value}});
}

struct ScaleRange {
  double least, most;
  bool isWhole;
};

template <class T>
constexpr ScaleRange wholeNumbersOf() {
  // The most of 64 bits is no double; the largest double below it is.
  const auto most =
      static_cast<double>(std::numeric_limits<T>::max() - (sizeof(T) == 8 ? std::numeric_limits<T>::max() >> 53 : 0));
  return {static_cast<double>(std::numeric_limits<T>::min()), most, true};
}

/// Scalars that a type's values are multiplied by without being cut off.
ScaleRange scalesOf(DataType type) {
  switch (type) {
    case DataType::int8:
      return wholeNumbersOf<int8_t>();
    case DataType::uint8:
      return wholeNumbersOf<uint8_t>();
    case DataType::int32:
      return wholeNumbersOf<int32_t>();
    case DataType::uint32:
      return wholeNumbersOf<uint32_t>();
    case DataType::int64:
      return wholeNumbersOf<int64_t>();
    case DataType::uint64:
      return wholeNumbersOf<uint64_t>();
    case DataType::float64:
      return {-DBL_MAX, DBL_MAX, false};
    default:  // The smaller floats are multiplied as float32.
      return {-double{FLT_MAX}, FLT_MAX, false};
  }
}

std::string shortest(double value) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

/// A factor that is cut off would give a wrong sum in silence: 0.5 of integers is 0.
void checkScale(const CollectiveSpec& spec) {
  const auto [least, most, isWhole] = scalesOf(spec.type);
  if (spec.scale >= least && spec.scale <= most && (!isWhole || spec.scale == std::trunc(spec.scale))) return;
  refuse(spec, "scale", shortest(spec.scale) + ", by which values of " + nameOf(spec.type) + " can't be multiplied",
         (isWhole ? "whole numbers from " : "numbers from ") + shortest(least) + " to " + shortest(most));
}

}  // namespace

void checkSpec(const CollectiveSpec& spec, uint32_t rank, uint32_t worldSize) {
  if (static_cast<int>(spec.collective) >= kCollectiveCount)
    refuse(spec, "collective", std::to_string(static_cast<int>(spec.collective)), "0 to 10");
  if (static_cast<int>(spec.type) >= kDataTypeCount)
    refuse(spec, "dataType", std::to_string(static_cast<int>(spec.type)), "0 to 11");
  if (!isKnown(spec.op))
    refuse(spec, "op", std::to_string(static_cast<int>(spec.op)), "0 to 8, and what dfcclRedOpCreate has made here");
  if (!isDefined(spec.op, spec.type)) {
    refuse(spec, "op", std::string(nameOf(spec.op)) + " of " + nameOf(spec.type),
           "integer types, or another operator; the bits of a float are no number");
  }
  if (!takes(spec.op, spec.type)) {
    refuse(spec, "dataType", nameOf(spec.type),
           "types of 8 bytes for values with their places, such as dfcclUint64, or another operator");
  }
  if (spec.ranks.empty()) refuse(spec, "ranks", "empty", "at least one rank of the world");
  if (spec.ranks.size() > worldSize)
    refuse(spec, "ranks", std::to_string(spec.ranks.size()) + " ranks",
           "at most the world's " + std::to_string(worldSize));
  std::vector<uint32_t> sorted = spec.ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back() >= worldSize)
    refuse(spec, "ranks", "naming rank " + std::to_string(sorted.back()), "0 to " + std::to_string(worldSize - 1));
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    refuse(spec, "ranks", "naming rank " + std::to_string(*twice) + " twice", "each rank once");
  if (!std::binary_search(sorted.begin(), sorted.end(), rank))
    refuse(spec, "ranks", "without rank " + std::to_string(rank) + ", which registers",
           "lists that hold the registering rank");
  if (hasRoot(spec.collective) && spec.root >= spec.ranks.size())
    refuse(spec, "root", std::to_string(spec.root), "0 to " + std::to_string(spec.ranks.size() - 1));
  if (spec.collective == Collective::sendRecv && spec.ranks.size() != 2)
    refuse(spec, "ranks", std::to_string(spec.ranks.size()) + " ranks", "exactly 2 for send-recv");
  if (spec.op == ReduceOp::scaledSum) checkScale(spec);
  if (spec.countPerRun && spec.collective == Collective::barrier)
    refuse(spec, "countPerRun", "true for a barrier, which has no count", "false, or another collective");
  if (spec.count > mostCount(spec.type, spec.ranks.size()))
    refuse(spec, "count", std::to_string(spec.count), "buffers below 64 TiB");
}

uint64_t mostCount(DataType type, size_t ranks) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 46;
  return kMaxBytes / sizeOf(type) / ranks;
}

bool takesAnyCount(const CollectiveSpec& spec) {
  return spec.countPerRun && spec.count == mostCount(spec.type, spec.ranks.size());
}

BufferSizes bufferSizes(const CollectiveSpec& spec, uint32_t member) {
  const uint64_t one = spec.count;
  const uint64_t all = spec.count * spec.ranks.size();
  const bool isRoot = member == spec.root;
  switch (spec.collective) {
    case Collective::allReduce:
      return {one, one};
    case Collective::allGather:
      return {one, all};
    case Collective::reduceScatter:
      return {all, one};
    case Collective::reduce:
      return {one, isRoot ? one : 0};
    case Collective::broadcast:
      return {isRoot ? one : 0, one};
    case Collective::allToAll:
      return {all, all};
    case Collective::gather:
      return {one, isRoot ? all : 0};
    case Collective::scatter:
      return {isRoot ? all : 0, one};
    case Collective::sendRecv:
      return {isRoot ? one : 0, isRoot ? 0 : one};
    case Collective::barrier:
      return {0, 0};
    case Collective::custom:
      return {one, one};
  }
  return {0, 0};
}

void checkAgreement(const CollectiveSpec& agreed, uint64_t agreedDigest, const CollectiveSpec& spec,
                    uint64_t programDigest, uint32_t rank) {
  const auto differ = [&](const char* field, const std::string& mine, const std::string& theirs) {
    throw Error(
        dfcclRegistrationMismatch,
        "Collective " + spec.id.text() + ": rank " + std::to_string(rank) + " registers " + field + " " + mine +
            ", but another rank registered " + theirs + ".",
        "Register the id with the same arguments on every rank, or give this collective an id of its own.",
        {{"id", spec.id.text()}, {"rank", std::to_string(rank)}, {"field", field}, {"mine", mine}, {"theirs", theirs}});
  };
  const auto list = [](const std::vector<uint32_t>& ranks) {
    std::string text = "[";
    for (size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
    return text + "]";
  };
  if (spec.collective != agreed.collective) differ("collective", nameOf(spec.collective), nameOf(agreed.collective));
  if (spec.type != agreed.type) differ("dataType", nameOf(spec.type), nameOf(agreed.type));
  if (spec.op != agreed.op) differ("op", nameOf(spec.op), nameOf(agreed.op));
  if (spec.count != agreed.count) differ("count", std::to_string(spec.count), std::to_string(agreed.count));
  if (spec.countPerRun != agreed.countPerRun)
    differ("countPerRun", spec.countPerRun ? "true" : "false", agreed.countPerRun ? "true" : "false");
  if (spec.mostBlocks != agreed.mostBlocks)
    differ("mostBlocks", std::to_string(spec.mostBlocks), std::to_string(agreed.mostBlocks));
  if (spec.ranks != agreed.ranks) differ("ranks", list(spec.ranks), list(agreed.ranks));
  if (hasRoot(spec.collective) && spec.root != agreed.root)
    differ("root", std::to_string(spec.root), std::to_string(agreed.root));
  if (programDigest != agreedDigest) {
    char mine[20], theirs[20];
    std::snprintf(mine, sizeof mine, "%016" PRIx64, programDigest);
    std::snprintf(theirs, sizeof theirs, "%016" PRIx64, agreedDigest);
    differ("program (digest)", mine, theirs);
  }
}

}  // namespace dfccl
