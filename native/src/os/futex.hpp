#pragma once
#include <cstdint>

namespace dfccl {

/// Sleeps while `*word == expected`, at most `timeoutMicros` (0: for as long as it takes). May wake for nothing.
void futexWait(uint32_t* word, uint32_t expected, uint64_t timeoutMicros);
void futexWakeAll(uint32_t* word);

/// The same on a word that several processes share.
void sharedFutexWait(uint32_t* word, uint32_t expected, uint64_t timeoutMicros);
void sharedFutexWakeAll(uint32_t* word);

}  // namespace dfccl
