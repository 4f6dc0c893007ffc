#include "world/run_check.hpp"

#include <cinttypes>
#include <cstdio>
#include <tuple>

#include "base/error.hpp"
#include "world/collective_name.hpp"

namespace dfccl {
namespace {

struct InPlaceForm {
  bool exists;
  int64_t segments;  // receive address minus send address
};

// The same table as packages/primitives/src/in-place.ts.
InPlaceForm inPlaceForm(Collective collective, uint32_t member, bool isRoot) {
  const auto own = static_cast<int64_t>(member);
  switch (collective) {
    case Collective::allReduce:
    case Collective::allToAll:
      return {true, 0};
    case Collective::allGather:
      return {true, -own};
    case Collective::reduceScatter:
      return {true, own};
    case Collective::reduce:
    case Collective::broadcast:
      return {isRoot, 0};
    case Collective::gather:
      return {isRoot, -own};
    case Collective::scatter:
      return {isRoot, own};
    case Collective::sendRecv:
    case Collective::barrier:
    case Collective::custom:
      return {false, 0};
  }
  return {false, 0};
}

std::string hex(const void* address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(address));
  return text;
}

std::string inPlaceRule(const CollectiveSpec& spec, const RunShape& shape) {
  if (!shape.mayBeInPlace) return "buffers that don't overlap";
  const std::string inPlace = shape.inPlaceOffset == 0 ? "the same address for both"
                              : shape.inPlaceOffset < 0
                                  ? "a send buffer that begins at this rank's segment of the receive buffer"
                                  : "a receive buffer that begins at this rank's segment of the send buffer";
  return (shape.mayBeOutOfPlace ? "buffers that don't overlap, or " : "in place only, ") + inPlace + ", for " +
         nameOf(spec.collective);
}

}  // namespace

RunShape runShapeOf(const CollectiveSpec& spec, uint32_t member, const ProgramHeader& program) {
  BufferSizes elements = bufferSizes(spec, member);
  if (spec.collective == Collective::custom) {
    elements = {spec.count * program.inputSegments, spec.count * program.outputSegments};
  }
  const uint64_t elementBytes = sizeOf(spec.type);
  const InPlaceForm form = inPlaceForm(spec.collective, member, member == spec.root);
  RunShape shape;
  shape.elementBytes = static_cast<uint32_t>(elementBytes);
  shape.sendBytes = elements.send * elementBytes;
  shape.recvBytes = elements.recv * elementBytes;
  shape.inPlaceOffset = form.segments * static_cast<int64_t>(spec.count * elementBytes);
  shape.mayBeInPlace = form.exists && (program.flags & kInPlace) != 0;
  shape.mayBeOutOfPlace = (program.flags & kOutOfPlace) != 0;
  return shape;
}

RunShape shapeOfOne(const RunShape& shape, uint64_t count) {
  RunShape ofOne = shape;
  if (count == 0) return ofOne;
  ofOne.sendBytes /= count;
  ofOne.recvBytes /= count;
  ofOne.inPlaceOffset /= static_cast<int64_t>(count);
  return ofOne;
}

void checkRun(const RunShape& shape, const CollectiveSpec& spec, uint32_t rank, const void* send, const void* recv) {
  if (isAllowed(shape, send, recv)) return;
  const Error::Facts facts = {{"id", spec.id.text()},
                              {"rank", std::to_string(rank)},
                              {"send", hex(send)},
                              {"recv", hex(recv)},
                              {"sendBytes", std::to_string(shape.sendBytes)},
                              {"recvBytes", std::to_string(shape.recvBytes)}};
  const std::string where = nameOf(spec) + " on rank " + std::to_string(rank) + ": ";
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    throw Error(dfcclInvalidArgument, where + what, remedy, facts);
  };
  const auto needs = [](const char* name, uint64_t bytes) {
    return "Pass a " + std::string(name) + " buffer of at least " + std::to_string(bytes) + " bytes.";
  };
  if (send == nullptr && shape.sendBytes != 0) refuse("the send buffer is null.", needs("send", shape.sendBytes));
  if (recv == nullptr && shape.recvBytes != 0) refuse("the receive buffer is null.", needs("receive", shape.recvBytes));
  if (((reinterpret_cast<uint64_t>(send) | reinterpret_cast<uint64_t>(recv)) >> 48) != 0) {
    refuse("address " + hex(reinterpret_cast<uint64_t>(send) >> 48 ? send : recv) + " has more than 48 bits.",
           "Pass memory of this process's user space.");
  }
  for (const auto& [name, buffer, bytes] :
       {std::tuple{"send", send, shape.sendBytes}, {"receive", recv, shape.recvBytes}}) {
    if (isInWindow(shape, reinterpret_cast<uint64_t>(buffer), bytes)) continue;
    refuse(
        "the " + std::string(name) + " buffer (" + hex(buffer) + ") isn't memory that the other processes can reach.",
        "Allocate it with dfcclAllocate, or register a program that moves everything through connectors.");
  }
  refuse("the send buffer (" + hex(send) + ", " + std::to_string(shape.sendBytes) + " bytes) and the receive buffer (" +
             hex(recv) + ", " + std::to_string(shape.recvBytes) + " bytes) lie where the program doesn't allow it.",
         "Allowed: " + inPlaceRule(spec, shape) + ".");
}

}  // namespace dfccl
