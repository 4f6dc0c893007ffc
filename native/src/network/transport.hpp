#pragma once
// What carries messages between the processes of a world on several machines. A proxy (proxy.hpp) knows what is in
// them; a transport gets them there, whole and in any order, or says that a rank can't be reached.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dfccl {

class Transport {
 public:
  static constexpr size_t kMostHeaderBytes = 64;

  class Events {
   public:
    virtual ~Events() = default;
    virtual void received(std::span<const uint8_t> header, std::span<const uint8_t> payload) = 0;
    /// The payload of a message has been taken over: its memory may be used again.
    virtual void sent(uint64_t cookie) = 0;
    /// Nothing reaches this rank any more, or from it.
    virtual void lost(uint32_t rank, const std::string& why) = 0;
  };

  virtual ~Transport() = default;

  /// How others reach this process: opaque bytes.
  virtual std::vector<uint8_t> address() = 0;
  /// @param addresses [rank]; empty for those that this process doesn't talk to. @throws Error dfcclUnavailable
  virtual void connect(const std::vector<std::vector<uint8_t>>& addresses, Events& events) = 0;

  /// All from here on: one thread at a time.
  /// @param header copied; at most kMostHeaderBytes. @param payload stays until sent(cookie), which may come at once.
  virtual void send(uint32_t rank, std::span<const uint8_t> header, std::span<const uint8_t> payload,
                    uint64_t cookie) = 0;
  /// Moves what can be moved, and reports it. @return whether anything was.
  virtual bool progress() = 0;
  /// A descriptor that is readable once there is something to progress, after arm() has said that there is nothing.
  virtual int descriptor() const = 0;
  virtual bool arm() = 0;
  /// Gives up what is under way.
  virtual void close() = 0;
};

/// What would carry data between machines here, and its version. @throws Error dfcclUnavailable, as openUcxTransport().
std::string describeTransport();

/// Over UCX, which chooses the wires. @throws Error dfcclUnavailable naming what is missing, with the remedy.
std::unique_ptr<Transport> openUcxTransport();

}  // namespace dfccl
