#include "network/hmac.hpp"

#include <dlfcn.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace dfccl {
namespace {

// Of openssl/hmac.h and openssl/evp.h, the same since 1.1: declared here so that no header is needed to build.
using Sha256Function = const void* (*)();
using HmacFunction = unsigned char* (*)(const void* md, const void* key, int keyBytes, const unsigned char* data,
                                        size_t dataBytes, unsigned char* out, unsigned int* outBytes);

struct Crypto {
  Sha256Function sha256 = nullptr;
  HmacFunction hmac = nullptr;

  bool lookIn(void* library) {
    sha256 = reinterpret_cast<Sha256Function>(dlsym(library, "EVP_sha256"));
    hmac = reinterpret_cast<HmacFunction>(dlsym(library, "HMAC"));
    return sha256 != nullptr && hmac != nullptr;
  }
};

Crypto loadCrypto() {
  Crypto crypto;
  // Node exports its own.
  if (crypto.lookIn(RTLD_DEFAULT)) return crypto;
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr && crypto.lookIn(library)) return crypto;
  }
  throw Error(dfcclUnavailable, "A meeting over a network needs OpenSSL's libcrypto, and there is none.",
              "Install it: apt-get install libssl3, or dnf install openssl-libs.", {{"library", "libcrypto.so.3"}});
}

}  // namespace

Digest hmac(Bytes key, std::initializer_list<Bytes> parts) {
  static const Crypto crypto = loadCrypto();
  std::vector<uint8_t> data;
  for (const Bytes& part : parts) data.insert(data.end(), part.begin(), part.end());
  Digest digest{};
  unsigned int size = 0;
  // An empty key is one too, but not a null pointer.
  const uint8_t none = 0;
  const void* const from = key.empty() ? &none : key.data();
  if (crypto.hmac(crypto.sha256(), from, static_cast<int>(key.size()), data.data(), data.size(), digest.data(),
                  &size) == nullptr ||
      size != digest.size()) {
    throw Error(dfcclUnavailable, "OpenSSL's libcrypto refused to compute HMAC-SHA-256.",
                "See whether its configuration forbids it (openssl list -digest-algorithms).");
  }
  return digest;
}

bool isEqual(const Digest& a, const Digest& b) {
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

Digest randomDigest() {
  Digest digest{};
  size_t have = 0;
  while (have < digest.size()) {
    const ssize_t got = getrandom(digest.data() + have, digest.size() - have, 0);
    if (got > 0) have += static_cast<size_t>(got);
    if (got < 0 && errno != EINTR) {
      throw Error(dfcclSystemError, std::string("The system gives no random bytes: ") + std::strerror(errno) + ".",
                  "Use Linux 3.17 or newer.", {{"errno", std::to_string(errno)}});
    }
  }
  return digest;
}

}  // namespace dfccl
