// What a rank waits for, in words: for errors, and for whoever looks into a program that hangs.
#include "c_api/why_stalled.hpp"

#include <algorithm>
#include <cstring>

#include "c_api/last_error.hpp"
#include "world/collective_name.hpp"
#include "world/graph_numbers.hpp"

namespace dfccl::c_api {
namespace {

/// What is said of each, up to what is enough to read; the others are counted.
class Sentences {
 public:
  bool isFull() const { return text_.size() > kEnough; }
  void add(const std::string& sentence) {
    if (isFull()) {
      ++more_;
    } else {
      text_.append(" ").append(sentence);
    }
  }
  std::string text() const { return more_ == 0 ? text_ : text_ + " And " + std::to_string(more_) + " more."; }

 private:
  static constexpr size_t kEnough = 400;

  std::string text_;
  size_t more_ = 0;
};

/// Tells groups of the same ranks apart.
std::string placeOf(const MatchedGroup& group) {
  return group.name == 0 ? std::string() : ", in group " + std::to_string(group.name);
}

std::string messageOf(const Signature& s) {
  return " of " + std::to_string(s.count) + " " + nameOf(s.type) + ", tag " + std::to_string(s.tag);
}

/// Of a collective with runs that aren't over; "": it has none.
/// @param absent what a member has not done that doesn't have it. @param isTold else it is only counted, and what
/// others have called instead, which takes a look at all of their calls, is left out.
std::string stallOf(RankContext& context, uint32_t index, const std::string& place, const char* absent, bool isTold) {
  const uint64_t issued = context.queues().issuedOf(index);
  if (context.queues().undeliveredOf(index) == 0) return "";
  std::string missing;
  bool isUnfinished = false;
  uint64_t run = 0;
  const auto members = context.backend().explain(context.number(), index);
  for (const auto& member : members) {
    if (member.rank != context.number()) continue;
    run = member.finished;
    isUnfinished = member.finished < issued;
  }
  if (!isUnfinished) return "";
  std::vector<OtherCall> others;
  if (isTold) others = context.backend().otherCalls(context.number(), index);
  for (const auto& member : members) {
    if (member.submitted > run) continue;
    missing.append(missing.empty() ? "rank " : ", rank ").append(std::to_string(member.rank));
    // On a GPU the daemon hears of it only behind the stream, and when the device has room for it.
    const bool isUnheard = member.issued > run;
    missing += !member.registered ? absent : isUnheard ? " waits for its stream or its GPU" : " has not submitted it";
    const auto other = std::ranges::find(others, member.rank, &OtherCall::rank);
    if (other != others.end()) missing.append(", but one of ").append(other->difference);
  }
  if (missing.empty()) missing = "under way on every rank";
  return nameOf(context.backend().specOf(context.number(), index)) + place + ", run " + std::to_string(run) + ": " +
         missing + ".";
}

/// Of a collective that graphs carry out; "": no launch waits for ranks that haven't captured it.
std::string stallInGraph(RankContext& context, uint32_t index, const std::string& place) {
  if (!context.backend().isCaptureAwaited(context.number(), index)) return "";
  std::string missing;
  for (const auto& member : context.backend().explain(context.number(), index)) {
    if (!member.registered) missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(member.rank);
  }
  if (missing.empty()) return "";
  return nameOf(context.backend().specOf(context.number(), index)) + place + ", is launched: " + missing +
         " has not captured it so often.";
}

}  // namespace

std::string whyStalled(RankContext& context, uint64_t first) {
  Sentences sentences;
  const auto add = [&](uint32_t index, const std::string& place, const char* absent) {
    if (const std::string stall = stallOf(context, index, place, absent, !sentences.isFull()); !stall.empty())
      sentences.add(stall);
  };
  const auto addMatched = [&](const MatchedCollective& c) { add(c.index, placeOf(*c.group), " has not submitted it"); };
  context.matching().forEach([&](const MatchedCollective& c) {
    if (c.registration == first) addMatched(c);
  });
  context.forEach(
      [&](uint32_t, const Registration& registration) { add(registration.index, "", " has not registered it"); });
  // Nobody registers what is called without an id.
  context.matching().forEach([&](const MatchedCollective& c) {
    if (c.registration != first) addMatched(c);
  });
  const auto addCaptured = [&](uint32_t index, const std::string& place) {
    if (const std::string stall = stallInGraph(context, index, place); !stall.empty()) sentences.add(stall);
  };
  context.forEachCaptured([&](uint32_t index) { addCaptured(index, ""); });
  context.matching().forEach([&](const MatchedCollective& c) {
    if (c.signature.isCaptured() && c.signature.graph != GraphNumbers::kStreams) {
      addCaptured(c.index, placeOf(*c.group));
    }
  });
  context.matching().forEachOpenReceive([&](const MatchedRun& run, const MatchedGroup& group) {
    sentences.add("receive from any rank" + messageOf(run.signature) + placeOf(group) + ": no rank has sent it.");
  });
  const std::string self = ": rank " + std::to_string(context.number());
  context.matching().forEachHalf([&](const Signature& signature, bool isSend) {
    sentences.add((isSend ? "send to itself" : "receive from itself") + messageOf(signature) + self +
                  (isSend ? " has not received it." : " has not sent it."));
  });
  return sentences.text();
}

}  // namespace dfccl::c_api

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclDescribe(char* text, size_t bytes, dfcclRankCtx_t ctx) {
  return guarded([&] {
    RankContext& context = contextOf(ctx);
    if (text == nullptr || bytes == 0) {
      refuseArgument("There is no room for a text.", "Pass a buffer of a few kilobytes, and its size.",
                     {{"field", text == nullptr ? "text" : "bytes"}});
    }
    std::string words = "Rank " + std::to_string(context.number()) + ": " +
                        std::to_string(context.queues().inFlight()) + " runs in flight." + whyStalled(context);
    words += context.backend().describe(context.number());
    const size_t length = std::min(words.size(), bytes - 1);
    std::memcpy(text, words.data(), length);
    text[length] = '\0';
    return dfcclSuccess;
  });
}
}
