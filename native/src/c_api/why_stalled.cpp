// What a rank waits for, in words: for errors, and for whoever looks into a program that hangs.
#include "c_api/why_stalled.hpp"

#include <algorithm>
#include <cstring>

#include "c_api/last_error.hpp"
#include "world/collective_name.hpp"

namespace dfccl::c_api {

std::string whyStalled(RankContext& context) {
  std::string text;
  // @param absent what a member has not done that doesn't have it.
  const auto add = [&](uint32_t index, const char* absent) {
    if (text.size() > 400) return;  // the first few say enough
    const uint64_t issued = context.queues().issuedOf(index);
    if (context.queues().undeliveredOf(index) == 0) return;
    std::string missing;
    bool isUnfinished = false;
    uint64_t run = 0;
    const auto members = context.backend().explain(context.number(), index);
    for (const auto& member : members) {
      if (member.rank != context.number()) continue;
      run = member.finished;
      isUnfinished = member.finished < issued;
    }
    if (!isUnfinished) return;
    std::vector<OtherCall> others = context.backend().otherCalls(context.number(), index);
    for (const auto& member : members) {
      if (member.submitted > run) continue;
      missing.append(missing.empty() ? "rank " : ", rank ").append(std::to_string(member.rank));
      // This rank has, but on a GPU the daemon hears of it only behind the stream.
      const bool isBehindStream = member.rank == context.number() && context.checksMemory();
      missing += !member.registered ? absent : isBehindStream ? " waits for its stream" : " has not submitted it";
      const auto other = std::ranges::find(others, member.rank, &OtherCall::rank);
      if (other != others.end()) missing.append(", but one of ").append(other->difference);
    }
    text.append(" ").append(nameOf(context.backend().specOf(context.number(), index)));
    text.append(", run ").append(std::to_string(run)).append(": ");
    text.append(missing.empty() ? "under way on every rank" : missing).append(".");
  };
  context.forEach(
      [&](uint32_t, const Registration& registration) { add(registration.index, " has not registered it"); });
  // Nobody registers what is called without an id.
  context.matching().forEach([&](const MatchedCollective& c) { add(c.index, " has not submitted it"); });
  const auto addMessage = [&](const char* what, const Signature& s, const std::string& absent) {
    if (text.size() > 400) return;
    text.append(" ").append(what).append(" of ").append(std::to_string(s.count)).append(" ").append(nameOf(s.type));
    text.append(", tag ").append(std::to_string(s.tag)).append(": ").append(absent);
  };
  context.matching().forEachOpenReceive(
      [&](const MatchedRun& run) { addMessage("receive from any rank", run.signature, "no rank has sent it."); });
  const std::string self = "rank " + std::to_string(context.number());
  context.matching().forEachHalf([&](const Signature& signature, bool isSend) {
    addMessage(isSend ? "send to itself" : "receive from itself", signature,
               self + (isSend ? " has not received it." : " has not sent it."));
  });
  return text;
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
