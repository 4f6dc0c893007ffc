// Random programs: communicators of all ranks and of some, a stream each, with calls of every kind, of every size that
// is carried out in another way, alone and in groups. Each rank takes the communicators in an order of its own, and
// what is within a group, too. One of them may make a group's calls without a group. DFCCL_SEED, DFCCL_PROGRAMS
#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

using Values = BufferOf<int32_t>;

enum class Kind { allReduce, reduce, broadcast, allGather, reduceScatter, allToAll, gather, scatter, message, count };

struct Call {
  Kind kind;
  size_t count;
  int root, peer;  // of the communicator; of a message from one to the other
  int32_t factor;

  int32_t of(int member) const { return (member + 1) * factor; }
  bool isAlike(const Call& other) const {
    return kind == other.kind && count == other.count && root == other.root && peer == other.peer;
  }
};

struct Group {
  std::vector<Call> calls;  // one: it is none
  int splitter = -1;        // the member that makes them one by one, if there is such a one
};

struct Program {
  struct Communicator {
    std::vector<int> ranks;
    std::vector<std::vector<Group>> rounds;
  };
  int ranks;
  std::vector<Communicator> communicators;
};

constexpr int kRounds = 3;

Program draw(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t most) { return static_cast<size_t>(random() % most); };
  Program program{2 + static_cast<int>(below(3)), {}};
  for (size_t c = 0; c < 2 + below(3); ++c) {
    Program::Communicator made;
    for (int r = 0; r < program.ranks; ++r) {
      if (c == 0 || below(4) != 0) made.ranks.push_back(r);
    }
    if (made.ranks.size() < 2) continue;
    const auto members = static_cast<int>(made.ranks.size());
    for (int round = 0; round < kRounds; ++round) {
      made.rounds.emplace_back();
      for (size_t g = 0; g < 1 + below(3); ++g) {
        Group group;
        const size_t calls = below(2) == 0 ? 1 : 2 + below(4);
        for (size_t i = 0; i < calls; ++i) {
          const size_t sizes[] = {1, 100, 5000, 70'000, 200'000};
          Call call{static_cast<Kind>(below(static_cast<size_t>(Kind::count))), sizes[below(5)] + i, 0, 0, 0};
          call.root = static_cast<int>(below(static_cast<size_t>(members)));
          call.peer = (call.root + 1 + static_cast<int>(below(static_cast<size_t>(members) - 1))) % members;
          if (i != 0 && below(4) == 0) call = group.calls[below(i)];
          call.factor = 1 + static_cast<int32_t>(below(50));
          group.calls.push_back(call);
        }
        group.splitter = static_cast<int>(below(2 * static_cast<size_t>(members)));
        made.rounds.back().push_back(group);
      }
    }
    program.communicators.push_back(made);
  }
  return program;
}

/// One rank's part of a call, with its buffers.
class Part {
 public:
  Part(const Call& call, int member, int members)
      : call_(call), member_(member), members_(members), send_(sent(), 0), recv_(received(), -1) {
    for (int s = 0; s < (isCut() ? members : 1); ++s) {
      send_.fill(call.of(member) + (isCut() ? s : 0), static_cast<size_t>(s) * call.count, call.count);
    }
  }

  ncclResult_t make(ncclComm_t comm, cudaStream_t stream) const {
    const size_t n = call_.count;
    switch (call_.kind) {
      case Kind::allReduce:
        return ncclAllReduce(send_, recv_, n, ncclInt32, ncclSum, comm, stream);
      case Kind::reduce:
        return ncclReduce(send_, recv_, n, ncclInt32, ncclMax, call_.root, comm, stream);
      case Kind::broadcast:
        return ncclBroadcast(send_, recv_, n, ncclInt32, call_.root, comm, stream);
      case Kind::allGather:
        return ncclAllGather(send_, recv_, n, ncclInt32, comm, stream);
      case Kind::reduceScatter:
        return ncclReduceScatter(send_, recv_, n, ncclInt32, ncclSum, comm, stream);
      case Kind::allToAll:
        return ncclAlltoAll(send_, recv_, n, ncclInt32, comm, stream);
      case Kind::gather:
        return ncclGather(send_, recv_, n, ncclInt32, call_.root, comm, stream);
      case Kind::scatter:
        return ncclScatter(send_, recv_, n, ncclInt32, call_.root, comm, stream);
      default:
        if (member_ == call_.root) return ncclSend(send_, n, ncclInt32, call_.peer, comm, stream);
        if (member_ == call_.peer) return ncclRecv(recv_, n, ncclInt32, call_.root, comm, stream);
        return ncclSuccess;
    }
  }

  bool isAlike(const Part& other) const { return call_.isAlike(other.call_); }
  bool isRight() const {
    const bool isRoot = member_ == call_.root;
    int32_t all = 0;
    for (int m = 0; m < members_; ++m) all += call_.of(m);
    const auto each = [&](const std::function<int32_t(int member)>& of) {
      bool areRight = true;
      for (int m = 0; m < members_; ++m)
        areRight &= recv_.isAll(of(m), static_cast<size_t>(m) * call_.count, call_.count);
      return areRight;
    };
    switch (call_.kind) {
      case Kind::allReduce:
        return recv_.isAll(all);
      case Kind::reduce:
        return !isRoot || recv_.isAll(call_.of(members_ - 1));
      case Kind::broadcast:
        return recv_.isAll(call_.of(call_.root));
      case Kind::allGather:
        return each([&](int m) { return call_.of(m); });
      case Kind::reduceScatter:
        return recv_.isAll(all + members_ * member_);
      case Kind::allToAll:
        return each([&](int m) { return call_.of(m) + member_; });
      case Kind::gather:
        return !isRoot || each([&](int m) { return call_.of(m); });
      case Kind::scatter:
        return recv_.isAll(call_.of(call_.root) + member_);
      default:
        return member_ != call_.peer || recv_.isAll(call_.of(call_.root));
    }
  }

 private:
  /// Each member is sent another part.
  bool isCut() const {
    return call_.kind == Kind::reduceScatter || call_.kind == Kind::allToAll || call_.kind == Kind::scatter;
  }
  size_t sent() const { return call_.count * static_cast<size_t>(isCut() ? members_ : 1); }
  size_t received() const {
    const bool isWhole = call_.kind == Kind::allGather || call_.kind == Kind::allToAll || call_.kind == Kind::gather;
    return call_.count * static_cast<size_t>(isWhole ? members_ : 1);
  }

  const Call call_;
  const int member_, members_;
  const Values send_, recv_;
};

/// A rank's place in a communicator.
class Place {
 public:
  Place(const Program::Communicator& made, const ncclUniqueId& id, int member)
      : made_(made), member_(member), comm_(id, static_cast<int>(made.ranks.size()), member) {}

  void begin(int round) {
    parts_.clear();
    isSplitter_.clear();
    next_ = 0;
    for (const Group& group : made_.rounds[static_cast<size_t>(round)]) {
      parts_.emplace_back();
      isSplitter_.push_back(group.splitter == member_);
      for (const Call& call : group.calls) {
        parts_.back().push_back(std::make_unique<Part>(call, member_, static_cast<int>(made_.ranks.size())));
      }
    }
  }
  bool hasMore() const { return next_ < parts_.size(); }
  /// The next group.
  void issue(std::mt19937& random) {
    auto& group = parts_[next_++];
    const bool isGroup = group.size() > 1 && !isSplitter_[next_ - 1];
    if (isGroup) CHECK_NCCL(ncclGroupStart());
    for (const size_t i : orderOf(group, random)) CHECK_NCCL(group[i]->make(comm_, stream_));
    if (isGroup) CHECK_NCCL(ncclGroupEnd());
  }
  bool synchronize() const { return stream_.synchronize(); }
  void check() const {
    for (const auto& group : parts_) {
      for (const auto& part : group) CHECK(part->isRight());
    }
  }

 private:
  /// Any, in which calls that are alike keep theirs: they match by it.
  static std::vector<size_t> orderOf(const std::vector<std::unique_ptr<Part>>& group, std::mt19937& random) {
    std::vector<size_t> order(group.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < order.size(); ++i) {
      for (size_t j = i + 1; j < order.size(); ++j) {
        if (order[j] < order[i] && group[order[i]]->isAlike(*group[order[j]])) std::swap(order[i], order[j]);
      }
    }
    return order;
  }

  const Program::Communicator& made_;
  const int member_;
  const Comm comm_;
  const RankStream stream_;
  std::vector<std::vector<std::unique_ptr<Part>>> parts_;
  std::vector<bool> isSplitter_;
  size_t next_ = 0;
};

/// What copies and allocations need of the driver while they wait for the device, the other ranks' threads need, too,
/// in order to give it what it waits for. So ranks prepare, look and leave while nothing is under way; between these
/// each goes its own way.
void run(const Program& program, int rank, const std::vector<ncclUniqueId>& ids, unsigned seed, std::barrier<>& all) {
  std::mt19937 random(seed * 101 + static_cast<unsigned>(rank));
  std::vector<std::unique_ptr<Place>> places;
  for (size_t c = 0; c < program.communicators.size(); ++c) {
    const std::vector<int>& ranks = program.communicators[c].ranks;
    const auto mine = std::find(ranks.begin(), ranks.end(), rank);
    if (mine == ranks.end()) continue;
    places.push_back(std::make_unique<Place>(program.communicators[c], ids[c], static_cast<int>(mine - ranks.begin())));
  }
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Place*> left;
    for (const auto& place : places) {
      place->begin(round);
      left.push_back(place.get());
    }
    all.arrive_and_wait();
    while (!left.empty()) {
      const size_t which = random() % left.size();
      left[which]->issue(random);
      if (!left[which]->hasMore()) left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
    }
    for (const auto& place : places) CHECK(place->synchronize());
    all.arrive_and_wait();
    for (const auto& place : places) place->check();
  }
}

unsigned numberOf(const char* variable, unsigned otherwise) {
  const char* const said = std::getenv(variable);
  return said == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(said, nullptr, 10));
}

}  // namespace

TEST_CASE("random programs of communicators, groups, and calls of every kind come to what they should") {
  // Worlds of all numbers of ranks are there at a time, whose daemons have to fit on a device together: else the host
  // waits, and so has orders.
  setenv("NCCL_MAX_CTAS", "2", 0);
  const unsigned first = numberOf("DFCCL_SEED", 1), programs = numberOf("DFCCL_PROGRAMS", 12);
  for (unsigned seed = first; seed < first + programs; ++seed) {
    CAPTURE(seed);
    const Program program = draw(seed);
    std::vector<ncclUniqueId> ids;
    for (size_t c = 0; c < program.communicators.size(); ++c) ids.push_back(newId());
    std::barrier<> all(program.ranks);
    onRanks(program.ranks, [&](int rank) { run(program, rank, ids, seed, all); });
  }
}
