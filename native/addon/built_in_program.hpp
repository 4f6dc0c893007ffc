#pragma once
#include <napi.h>

namespace dfccl::addon {

/// builtInProgram(collective, ranks, rank, root, hosts?, lanes?): the program that callers without JavaScript get; with
/// the ranks' machines, where those are several; with lanes and no machines, GPUs' program for large buffers. Tests
/// compare its bytes with those that packages/primitives builds, so that both kinds of callers may meet in one
/// collective, and with those that packages/compiler makes.
Napi::Value builtInProgram(const Napi::CallbackInfo& info);

}  // namespace dfccl::addon
