#pragma once
// Numbers and bytes in a row, as they travel: little endian, as all machines are that this engine runs on. Reading
// checks every length, because what is read has come over a network.
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace dfccl {

class MessageWriter {
 public:
  template <class T>
  MessageWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
    return *this;
  }
  MessageWriter& putBytes(std::span<const uint8_t> bytes) {
    put(static_cast<uint32_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  MessageWriter& putText(const std::string& text) {
    return putBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Once something isn't there, nothing is any more, and isWhole() says so.
class MessageReader {
 public:
  explicit MessageReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const std::span<const uint8_t> from = take(sizeof value);
    if (from.size() == sizeof value) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::span<const uint8_t> getBytes() { return take(get<uint32_t>()); }
  std::string getText() {
    const std::span<const uint8_t> bytes = getBytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// A number of things that follow, each of at least `leastBytes`; 0 where there can't be so many.
  uint32_t getCount(size_t leastBytes) {
    const auto count = get<uint32_t>();
    if (count <= bytes_.size() / leastBytes) return count;
    isBroken_ = true;
    return 0;
  }
  /// Everything was there, and nothing is left.
  bool isWhole() const { return !isBroken_ && bytes_.empty(); }

 private:
  std::span<const uint8_t> take(size_t bytes) {
    if (isBroken_ || bytes > bytes_.size()) {
      isBroken_ = true;
      return {};
    }
    const std::span<const uint8_t> taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  std::span<const uint8_t> bytes_;
  bool isBroken_ = false;
};

}  // namespace dfccl
