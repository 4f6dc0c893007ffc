#include "processes/flight_record.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "world/collective_spec.hpp"

namespace dfccl {
namespace {

// Older ones say nothing that these don't.
constexpr uint64_t kMostRuns = 64;

/// PyTorch's name. Its analyzer stops at one that it doesn't know, and holds no rank's sizes of all_to_all against
/// another's.
const char* operationOf(Collective collective) {
  static const char* const names[kCollectiveCount] = {
      "all_reduce", "_all_gather_base", "_reduce_scatter_base", "reduce",    "broadcast", "all_to_all", "gather",
      "scatter",    "all_to_all",       "all_reduce_barrier",   "all_to_all"};
  return names[static_cast<int>(collective)];
}

/// Of the enumeration of scalar types in PyTorch.
const char* scalarOf(DataType type) {
  static const char* const names[kDataTypeCount] = {"Char",   "Byte",     "Int",           "UInt32",
                                                    "Long",   "UInt64",   "Half",          "Float",
                                                    "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};
  return names[static_cast<int>(type)];
}

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

template <class List, class Text>
std::string joined(const List& list, const Text& textOf) {
  std::string text;
  for (const auto& one : list) text.append(text.empty() ? "" : ",").append(textOf(one));
  return text;
}

using Wide = unsigned long long;

/// Elements of a rank's input and output.
std::pair<Wide, Wide> sizesOf(const CollectiveStatus& c) {
  const uint64_t all = c.count * c.members.size();
  switch (c.collective) {
    case Collective::allGather:
    case Collective::gather:
      return {c.count, all};
    case Collective::reduceScatter:
    case Collective::scatter:
      return {all, c.count};
    case Collective::allToAll:
      return {all, all};
    default:
      return {c.count, c.count};
  }
}

/// A collective that the rank is a member of.
struct Own {
  const CollectiveStatus& collective;
  size_t group;  // its position in the world
  const MemberStatus& member;
};

std::vector<Own> ownOf(const WorldStatus& world, uint32_t rank) {
  std::vector<Own> own;
  for (const CollectiveStatus& c : world.collectives) {
    const auto member =
        std::find_if(c.members.begin(), c.members.end(), [&](const MemberStatus& m) { return m.rank == rank; });
    if (member != c.members.end()) own.push_back({c, static_cast<size_t>(&c - world.collectives.data()), *member});
  }
  return own;
}

/// What was called, which an id need not say.
std::string descriptionOf(const CollectiveStatus& c) { return c.name.empty() ? nameOf(c.collective) : c.name; }

std::string configOf(const Own& own) {
  const std::string ranks =
      joined(own.collective.members, [](const MemberStatus& m) { return std::to_string(m.rank); });
  return print(R"("id %u":{"name":"id %u","desc":"%s","ranks":"[%s]"})", own.collective.id, own.collective.id,
               descriptionOf(own.collective).c_str(), ranks.c_str());
}

std::string statusOf(const Own& own) {
  const MemberStatus& m = own.member;
  return print(
      R"("id %u":{"last_enqueued_collective":%llu,"last_started_collective":%llu,"last_completed_collective":%llu})",
      own.collective.id, Wide{m.submittedRuns}, Wide{std::min(m.submittedRuns, m.finishedRuns + 1)},
      Wide{m.finishedRuns});
}

std::string entryOf(const Own& own, size_t record, uint64_t run, int64_t nowMillis) {
  const auto& [c, group, member] = own;
  const auto [input, output] = sizesOf(c);
  const bool isComplete = run < member.finishedRuns, isStarted = run == member.finishedRuns;
  const int64_t since = (nowMillis - static_cast<int64_t>(member.waitingMillis)) * 1'000'000;
  std::vector<uint32_t> missing;
  for (const MemberStatus& m : c.members) {
    if (m.submittedRuns <= run) missing.push_back(m.rank);
  }
  return print(R"({"frames":[],"record_id":%zu,"pg_id":%zu,"process_group":["id %u","%s"],)"
               R"("collective_seq_id":%llu,"p2p_seq_id":0,"op_id":%llu,"profiling_name":"nccl:%s",)"
               R"("time_created_ns":%s,"input_sizes":[[%llu]],"input_dtypes":["%s"],"output_sizes":[[%llu]],)"
               R"("output_dtypes":["%s"],"state":"%s","time_discovered_started_ns":null,)"
               R"("time_discovered_completed_ns":null,"retired":%s,"timeout_ms":null,"is_p2p":false,)"
               R"("missing_ranks":[%s]})",
               record, group, c.id, descriptionOf(c).c_str(), Wide{run + 1}, Wide{run + 1}, operationOf(c.collective),
               isStarted ? std::to_string(since).c_str() : "null", input, scalarOf(c.type), output, scalarOf(c.type),
               isComplete  ? "completed"
               : isStarted ? "started"
                           : "scheduled",
               isComplete ? "true" : "false", joined(missing, [](uint32_t r) { return std::to_string(r); }).c_str());
}

std::vector<std::string> entriesOf(const std::vector<Own>& owns, int64_t nowMillis) {
  std::vector<std::string> entries;
  for (const Own& own : owns) {
    // From the slowest member's last on, so that every rank's record has all that another's may be compared with.
    uint64_t slowest = own.member.finishedRuns;
    for (const MemberStatus& m : own.collective.members) slowest = std::min(slowest, m.finishedRuns);
    const uint64_t submitted = own.member.submittedRuns;
    const uint64_t newest = submitted > kMostRuns ? submitted - kMostRuns : 0;
    for (uint64_t run = std::max(slowest > 0 ? slowest - 1 : 0, newest); run < submitted; ++run) {
      entries.push_back(entryOf(own, entries.size(), run, nowMillis));
    }
  }
  return entries;
}

/// One an id: the last, at the place of the first.
std::vector<Own> groupsOf(const std::vector<Own>& owns) {
  std::vector<const Own*> groups;
  std::map<uint32_t, size_t> places;
  for (const Own& own : owns) {
    const auto [place, isNew] = places.emplace(own.collective.id, groups.size());
    if (isNew) groups.push_back(&own);
    groups[place->second] = &own;
  }
  std::vector<Own> list;
  for (const Own* own : groups) list.push_back(*own);
  return list;
}

}  // namespace

std::string flightRecordOf(const WorldStatus& world, uint32_t rank, int64_t nowMillis) {
  const std::vector<Own> owns = ownOf(world, rank);
  const std::vector<Own> groups = groupsOf(owns);
  const auto same = [](const std::string& text) { return text; };
  return R"({"version":"2.10","pg_config":{)" + joined(groups, configOf) + R"(},"pg_status":{)" +
         joined(groups, statusOf) + R"(},"entries":[)" + joined(entriesOf(owns, nowMillis), same) + "]}";
}

}  // namespace dfccl
