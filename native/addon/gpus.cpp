#include "gpus.hpp"

#include "error_conversion.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl::addon {

Napi::Value gpus(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const GpuReport report = reportGpus();
  Napi::Object result = Napi::Object::New(env);
  result.Set("isBuilt", report.isBuilt);
  result.Set("driverVersion", report.driverVersion);
  result.Set("runtimeVersion", report.runtimeVersion);
  result.Set("driverModule", report.driverModule);
  result.Set("obstacle", report.obstacle ? toJavaScript(env, *report.obstacle).Value() : env.Null());
  Napi::Array devices = Napi::Array::New(env, report.devices.size());
  for (uint32_t i = 0; i < report.devices.size(); ++i) {
    const GpuDevice& device = report.devices[i];
    Napi::Object object = Napi::Object::New(env);
    object.Set("number", device.number);
    object.Set("name", device.name);
    object.Set("pciAddress", device.pciAddress);
    object.Set("computeCapability", std::to_string(device.computeMajor) + "." + std::to_string(device.computeMinor));
    object.Set("multiprocessors", device.multiprocessors);
    object.Set("memoryBytes", static_cast<double>(device.memoryBytes));
    object.Set("hostNativeAtomics", device.hostNativeAtomics);
    devices.Set(i, object);
  }
  result.Set("devices", devices);
  Napi::Array links = Napi::Array::New(env, report.links.size());
  for (uint32_t i = 0; i < report.links.size(); ++i) {
    const GpuLink& link = report.links[i];
    Napi::Object object = Napi::Object::New(env);
    object.Set("from", link.from);
    object.Set("to", link.to);
    object.Set("canAccess", link.canAccess);
    object.Set("nativeAtomics", link.nativeAtomics);
    object.Set("nvlinks", link.nvlinks);
    links.Set(i, object);
  }
  result.Set("links", links);
  return result;
}

}  // namespace dfccl::addon
