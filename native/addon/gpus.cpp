#include "gpus.hpp"

#include <string>
#include <vector>

#include "error_conversion.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl::addon {

namespace {

void describe(const GpuDevice& device, Napi::Object& object) {
  object.Set("number", device.number);
  object.Set("name", device.name);
  object.Set("pciAddress", device.pciAddress);
  object.Set("computeCapability", std::to_string(device.computeMajor) + "." + std::to_string(device.computeMinor));
  object.Set("multiprocessors", device.multiprocessors);
  object.Set("memoryBytes", static_cast<double>(device.memoryBytes));
  object.Set("hostNativeAtomics", device.hostNativeAtomics);
}

void describe(const GpuLink& link, Napi::Object& object) {
  object.Set("from", link.from);
  object.Set("to", link.to);
  object.Set("canAccess", link.canAccess);
  object.Set("nativeAtomics", link.nativeAtomics);
  object.Set("nvlinks", link.nvlinks);
}

template <class Item>
Napi::Array toArray(Napi::Env env, const std::vector<Item>& items) {
  Napi::Array array = Napi::Array::New(env, items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    Napi::Object object = Napi::Object::New(env);
    describe(items[i], object);
    array.Set(i, object);
  }
  return array;
}

}  // namespace

Napi::Value gpus(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const GpuReport report = reportGpus();
  Napi::Object result = Napi::Object::New(env);
  result.Set("isBuilt", report.isBuilt);
  result.Set("driverVersion", report.driverVersion);
  result.Set("runtimeVersion", report.runtimeVersion);
  result.Set("driverModule", report.driverModule);
  result.Set("obstacle", report.obstacle ? toJavaScript(env, *report.obstacle).Value() : env.Null());
  result.Set("devices", toArray(env, report.devices));
  result.Set("links", toArray(env, report.links));
  return result;
}

}  // namespace dfccl::addon
