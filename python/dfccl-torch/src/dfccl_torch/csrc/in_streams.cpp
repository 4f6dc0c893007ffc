#include "in_streams.hpp"

#include <cstdlib>
#include <string>

#include "device_stream.hpp"
#include "error.hpp"
#include "tag.hpp"

namespace dfccl_torch {
namespace {

bool readSetting() {
  const char* const value = std::getenv("DFCCL_IN_STREAMS");
  if (value == nullptr || std::string(value).empty() || std::string(value) == "0") return false;
  if (std::string(value) == "1" && matchesByPosition()) {
    refuse("DFCCL_IN_STREAMS=1 and DFCCL_MATCH=position are both set.",
           "Leave one of them out: by position, each collective is one of its own, which kernels would be made for.");
  }
  if (std::string(value) == "1") return true;
  refuse("DFCCL_IN_STREAMS is \"" + std::string(value) + "\".",
         "It may be 1, for collectives on GPUs that are kernels in streams, or 0.");
}

}  // namespace

bool isInStreamsSet() {
  static const bool inStreams = readSetting();
  return inStreams;
}

bool wantsStreams(c10::Device device) {
  return device.is_cuda() && isInStreamsSet() && currentTag() == 0 && !isCapturing(currentStream(device));
}

bool hasRoomInStreams(c10::Device device) {
  constexpr int kFewestQueues = 4, kUsualQueues = 8, kBlocksOfDaemon = 17;
  const char* const asked = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const int queues = asked == nullptr ? kUsualQueues : std::atoi(asked);
  return queues >= kFewestQueues && multiprocessorsOf(device) >= kBlocksOfDaemon + queues;
}

}  // namespace dfccl_torch
