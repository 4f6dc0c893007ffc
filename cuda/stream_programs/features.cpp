#include "stream_programs/features.hpp"

namespace dfccl::gpu::programs {

std::vector<std::string> featureNames() {
  return {"modules",    "malloc", "host-free", "host-unregister", "limits",  "pools",      "pinned",
          "fresh",      "events", "streams",   "priority",        "legacy",  "per-thread", "synchronize",
          "host-waits", "polls",  "aborts",    "renewals",        "subsets", "large",      "graphs"};
}

std::string nameOf(Feature feature) { return featureNames().at(static_cast<size_t>(feature)); }

std::string Features::leftOut() const {
  std::string names;
  for (uint32_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!has(feature)) names += (names.empty() ? "" : ",") + nameOf(feature);
  }
  return names;
}

}  // namespace dfccl::gpu::programs
