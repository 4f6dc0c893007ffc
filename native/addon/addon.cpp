#include <napi.h>

#include "allocate.hpp"
#include "base/reduce_copy.hpp"
#include "built_in_program.hpp"
#include "defaults.hpp"
#include "engine_layout.hpp"
#include "flight_record.hpp"
#include "gpus.hpp"
#include "inspect.hpp"
#include "joining.hpp"
#include "signatures.hpp"
#include "world_object.hpp"

namespace dfccl::addon {
namespace {

// Everything belongs to this environment: the addon may be loaded by several worker threads at once.
Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("NativeWorld", WorldObject::define(env));
  exports.Set("allocate", Napi::Function::New(env, allocate));
  exports.Set("builtInProgram", Napi::Function::New(env, builtInProgram));
  exports.Set("addressOf", Napi::Function::New(env, addressOf));
  exports.Set("readLaunch", Napi::Function::New(env, readLaunch));
  exports.Set("joinSegment", Napi::Function::New(env, joinSegment));
  exports.Set("transport", Napi::Function::New(env, transport));
  exports.Set("inspectWorlds", Napi::Function::New(env, inspectWorlds));
  exports.Set("flightRecord", Napi::Function::New(env, flightRecord));
  exports.Set("writeFlightRecord", Napi::Function::New(env, writeFlightRecord));
  exports.Set("defaultOptions", Napi::Function::New(env, defaultOptions));
  exports.Set("groupId", Napi::Function::New(env, groupId));
  exports.Set("nameOfPart", Napi::Function::New(env, nameOfPart));
  exports.Set("signatureId", Napi::Function::New(env, signatureId));
  exports.Set("gpus", Napi::Function::New(env, gpus));
  exports.Set("layout", Napi::Function::New(env, engineLayout));
  exports.Set("reduceCopyKernel", Napi::String::New(env, reduceCopyKernelName()));
  return exports;
}

}  // namespace

NODE_API_MODULE(dfccl, initialise)

}  // namespace dfccl::addon
