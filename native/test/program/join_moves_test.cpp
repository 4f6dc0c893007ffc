// Joined moves must do what the members' steps do one after the other, in whatever order a kernel goes through the
// elements of one move.
#include "program/join_moves.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "../daemon/support/programs.hpp"
#include "program/program_loader.hpp"
#include "world/builtin_programs.hpp"

using namespace dfccl;
using namespace dfccl::test;

namespace {

constexpr uint64_t kCount = 7;  // elements of a segment: chunks of different lengths
constexpr size_t kElementBytes = 4;

using Programs = std::vector<std::shared_ptr<const BoundProgram>>;

std::vector<const BoundProgram*> pointersTo(const Programs& programs) {
  std::vector<const BoundProgram*> pointers;
  for (const auto& program : programs) pointers.push_back(program.get());
  return pointers;
}

/// What the members' buffers hold: a value an element, named by where it came from.
class Buffers {
 public:
  /// @param inPlace members whose output is their input.
  explicit Buffers(uint32_t inPlace) : inPlace_(inPlace) {}

  uint64_t& at(uint32_t member, BufferKind buffer, uint64_t element) {
    if (buffer == BufferKind::output && (inPlace_ >> member & 1) != 0) buffer = BufferKind::input;
    const Key key{member, static_cast<uint32_t>(buffer), element};
    return values_
        .try_emplace(
            key, std::hash<uint64_t>{}(member * 7919u + static_cast<uint32_t>(buffer) * 104729u + element * 15485863u))
        .first->second;
  }
  const auto& values() const { return values_; }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint64_t>;
  uint32_t inPlace_;
  std::map<Key, uint64_t> values_;
};

enum class ElementOrder { forwards, backwards, readsFirst };

void execute(const OwnedJointMoves& joint, Buffers& buffers, ElementOrder order) {
  for (const JointMove& move : joint.moves) {
    const JointRef* refs = joint.refs.data() + move.firstRef;
    const auto folded = [&](uint64_t i) {
      uint64_t value = move.finishes ? 1 : 0;
      for (uint32_t s = 0; s < move.sourceCount; ++s) {
        value = value * 1'000'003 + buffers.at(refs[s].member, refs[s].buffer, refs[s].byteOffset / kElementBytes + i);
      }
      return value;
    };
    const auto put = [&](uint64_t i, uint64_t value) {
      for (uint32_t d = move.sourceCount; d < uint32_t{move.sourceCount} + move.destinationCount; ++d) {
        buffers.at(refs[d].member, refs[d].buffer, refs[d].byteOffset / kElementBytes + i) = value;
      }
    };
    std::vector<uint64_t> results;
    for (uint64_t i = 0; i < move.elements; ++i) {
      const uint64_t element = order == ElementOrder::backwards ? move.elements - 1 - i : i;
      if (order == ElementOrder::readsFirst) {
        results.push_back(folded(element));
      } else {
        put(element, folded(element));
      }
    }
    for (uint64_t i = 0; i < results.size(); ++i) put(i, results[i]);
  }
}

/// Every chunk of every step by itself.
OwnedJointMoves apart(const Programs& programs) {
  OwnedJointMoves all;
  for (const auto& program : programs) {
    for (const StepRecord& step : program->steps) {
      for (uint32_t chunk = 0; chunk < step.count; ++chunk) {
        JointMove move{UINT64_MAX, static_cast<uint32_t>(all.refs.size()), step.sourceCount, step.destinationCount,
                       (step.flags & kFinish) != 0};
        for (uint32_t r = 0; r < uint32_t{step.sourceCount} + step.destinationCount; ++r) {
          const BoundRef& ref = program->refs[step.firstRef + r];
          const ChunkRange range = program->range(static_cast<BufferKind>(ref.buffer), ref.chunk + chunk);
          move.elements = std::min(move.elements, range.elements);
          all.refs.push_back({ref.rank, static_cast<BufferKind>(ref.buffer), range.byteOffset});
        }
        all.moves.push_back(move);
      }
    }
  }
  return all;
}

/// Steps over whole chunks; every second one goes on where the last one ended, as builders' steps do.
Programs randomPrograms(std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t members = 1 + below(3);
  const uint32_t chunks = 2 + below(5);
  Programs programs;
  std::vector<ChunkRefRecord> sources, destinations;
  for (uint32_t member = 0; member < members; ++member) {
    ProgramWriter w(Collective::custom, Protocol::simple, members, member, 1);
    w.header.flags |= kUsesDirect;
    w.header.chunksPerSegment = chunks;
    const uint32_t steps = 1 + below(4);
    for (uint32_t s = 0; s < steps; ++s) {
      const auto ref = [&] {
        return ChunkRefRecord{below(members), static_cast<uint32_t>(below(2) ? BufferKind::input : BufferKind::output),
                              below(chunks), 0};
      };
      const auto isLast = [&](const ChunkRefRecord& r) { return r.chunk + 1 >= chunks; };
      const bool goesOn = below(2) == 0 && !sources.empty() && std::none_of(sources.begin(), sources.end(), isLast) &&
                          std::none_of(destinations.begin(), destinations.end(), isLast);
      if (goesOn) {
        for (ChunkRefRecord& r : sources) ++r.chunk;
        for (ChunkRefRecord& r : destinations) ++r.chunk;
      } else {
        sources.assign(1 + below(2), {});
        destinations.assign(1 + below(2), {});
        std::generate(sources.begin(), sources.end(), ref);
        std::generate(destinations.begin(), destinations.end(), ref);
      }
      w.addMulti(0, ProgramWriter::step(Op::multiReduceCopy), sources, destinations);
    }
    programs.push_back(loadProgram(w.encode(), DataType::float32, kCount, {}));
  }
  return programs;
}

void checkEqual(const Programs& programs, uint32_t inPlace) {
  Buffers expected(inPlace);
  execute(apart(programs), expected, ElementOrder::forwards);
  const OwnedJointMoves joint = joinMoves(pointersTo(programs));
  for (const ElementOrder order : {ElementOrder::forwards, ElementOrder::backwards, ElementOrder::readsFirst}) {
    Buffers joined(inPlace);
    execute(joint, joined, order);
    CHECK(joined.values() == expected.values());
  }
}

}  // namespace

TEST_CASE("joined moves have the result of the steps, in place too") {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Programs programs = randomPrograms(random);
    checkEqual(programs, 0);
    checkEqual(programs, static_cast<uint32_t>(random()));
  }
}

TEST_CASE("an all-reduce of any number of ranks is a single move") {
  for (const uint32_t ranks : {2u, 3u, 8u}) {
    for (const uint64_t count : {1ul, 2ul, 1000ul}) {
      Programs programs;
      for (uint32_t r = 0; r < ranks; ++r) {
        programs.push_back(
            loadProgram(buildDirectProgram(Collective::allReduce, ranks, r, kNone), DataType::float32, count, {}));
      }
      CHECK(programs[0]->togetherBytes < kNeverTogether);
      const OwnedJointMoves joint = joinMoves(pointersTo(programs));
      REQUIRE(joint.moves.size() == 1);
      CHECK(joint.moves[0].elements == count);
      CHECK(joint.refs.size() == 2 * ranks);
    }
  }
}

TEST_CASE("a step that reads what the one before it wrote elsewhere stays apart") {
  ProgramWriter w(Collective::custom, Protocol::simple, 1, 0, 1);
  w.header.flags |= kUsesDirect;
  w.header.chunksPerSegment = 3;
  const auto chunkOf = [](BufferKind buffer, uint32_t chunk) {
    return std::vector{ChunkRefRecord{0, static_cast<uint32_t>(buffer), chunk, 0}};
  };
  for (uint32_t c = 0; c < 2; ++c) {
    w.addMulti(0, ProgramWriter::step(Op::multiReduceCopy), chunkOf(BufferKind::input, c),
               chunkOf(BufferKind::output, c + 1));
  }
  const Programs programs{loadProgram(w.encode(), DataType::float32, 6, {})};
  CHECK(joinMoves(pointersTo(programs)).moves.size() == 2);
}
