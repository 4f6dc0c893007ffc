#pragma once
// What a meeting over a network proves itself with: HMAC-SHA-256, from OpenSSL's libcrypto, which is looked for when it
// is needed. Node brings it along; other programs load the system's.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace dfccl {

using Digest = std::array<uint8_t, 32>;
using Bytes = std::span<const uint8_t>;

/// HMAC-SHA-256 of `parts`, one behind the other (RFC 2104). @throws Error dfcclUnavailable where there is no
/// libcrypto.
Digest hmac(Bytes key, std::initializer_list<Bytes> parts);

/// In a time that doesn't tell where they differ.
bool isEqual(const Digest& a, const Digest& b);

/// Random bytes of the system's. @throws Error dfcclSystemError
Digest randomDigest();

inline Bytes bytesOf(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
template <class T>
Bytes bytesOfObject(const T& object) {
  return {reinterpret_cast<const uint8_t*>(&object), sizeof object};
}

}  // namespace dfccl
