#include <cstdio>
#include <string>
#include <vector>

#include "c_api/last_error.hpp"
#include "c_api/rank_context.hpp"
#include "trace/chrome_trace.hpp"

using namespace dfccl;
using namespace dfccl::c_api;

extern "C" {

dfcclResult_t dfcclWriteTrace(const char* path, const dfcclRankCtx_t* ctxs, int count) {
  return guarded([&] {
    if (path == nullptr || count < 1 || ctxs == nullptr) {
      refuseArgument("The path or the list of contexts is null, or the list's length is " + std::to_string(count) + ".",
                     "Pass a file's path, and at least one context.");
    }
    checkContextList(ctxs, count);
    std::vector<TraceTrack> tracks;
    for (int i = 0; i < count; ++i) {
      RankContext& context = contextOf(ctxs[i]);
      std::vector<TraceTrack> mine = context.backend().readTrace(context.number());
      if (mine.empty()) {
        throw Error(dfcclUnavailable, "The daemon of rank " + std::to_string(context.number()) + " writes no trace.",
                    "Only daemons on GPUs do. On a CPU, ask its profiler, and dfcclGetCounters.",
                    {{"rank", std::to_string(context.number())}});
      }
      for (TraceTrack& track : mine) tracks.push_back(std::move(track));
    }
    const std::string json = chromeTrace(tracks);
    std::FILE* const file = std::fopen(path, "w");
    const bool isWritten = file != nullptr && std::fwrite(json.data(), 1, json.size(), file) == json.size();
    if ((file != nullptr && std::fclose(file) != 0) || !isWritten) {
      throw Error(
          dfcclSystemError, std::string("The trace can't be written to ") + path + ".",
          "Choose a path where this process may write, with room for " + std::to_string(json.size()) + " bytes.",
          {{"path", path}});
    }
    return dfcclSuccess;
  });
}
}
