#include "joining.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "error_conversion.hpp"
#include "network/network.hpp"
#include "opening/join.hpp"
#include "opening/launch.hpp"
#include "options.hpp"

namespace dfccl::addon {
namespace {

using Cancelled = std::shared_ptr<Atomic<uint32_t>>;

/// Meets the other processes on a thread of Node's pool.
class JoinWorker : public Napi::AsyncWorker {
 public:
  JoinWorker(Napi::Env env, WorldOptions options, std::string job, uint32_t rank, uint32_t timeoutMillis,
             std::optional<RendezvousPoint> point, Cancelled cancelled)
      : Napi::AsyncWorker(env),
        deferred_(env),
        options_(std::move(options)),
        job_(std::move(job)),
        rank_(rank),
        timeoutMillis_(timeoutMillis),
        point_(std::move(point)),
        cancelled_(std::move(cancelled)) {
    // An environment that ends waits for its pool: it must not wait for the other ranks too.
    napi_add_env_cleanup_hook(env, giveUp, cancelled_.get());
  }
  ~JoinWorker() override { napi_remove_env_cleanup_hook(Env(), giveUp, cancelled_.get()); }

  Napi::Value promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      join(options_, job_, rank_, timeoutMillis_, cancelled_.get(), point_ ? &*point_ : nullptr);
    } catch (const Error& e) {
      failure_ = e;
    } catch (const std::exception& e) {
      failure_.emplace(dfcclSystemError, e.what(), "See what limits this process.");
    }
  }

  void OnOK() override {
    Napi::Env env = Env();
    if (failure_) return deferred_.Reject(toJavaScript(env, *failure_).Value());
    auto* joined = new Joined{std::move(options_.segment), std::move(options_.network)};
    deferred_.Resolve(Napi::External<Joined>::New(env, joined, [](Napi::Env, Joined* held) { delete held; }));
  }

 private:
  static void giveUp(void* cancelled) { static_cast<Atomic<uint32_t>*>(cancelled)->store(1, order::relaxed); }

  Napi::Promise::Deferred deferred_;
  WorldOptions options_;
  std::string job_;
  uint32_t rank_;
  uint32_t timeoutMillis_;
  std::optional<RendezvousPoint> point_;
  Cancelled cancelled_;
  std::optional<Error> failure_;
};

}  // namespace

Napi::Value readLaunch(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto variables = info[0].As<Napi::Object>();
    std::map<std::string, std::string> values;
    const Environment environment = [&](const char* name) -> const char* {
      const Napi::Value value = variables.Get(name);
      if (!value.IsString()) return nullptr;
      return (values[name] = value.As<Napi::String>().Utf8Value()).c_str();
    };
    if (!isLaunched(environment)) return info.Env().Null();
    const Launch launch = dfccl::readLaunch(environment);
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("launcher", launch.launcher);
    result.Set("rank", launch.rank);
    result.Set("size", launch.size);
    result.Set("job", launch.job);
    if (!launch.address.empty()) result.Set("address", launch.address);
    if (!launch.hostName.empty()) result.Set("host", launch.hostName);
    return result;
  });
}

Napi::Value transport(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value { return Napi::String::New(info.Env(), describeTransport()); });
}

Napi::Value joinSegment(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const WorldOptions options = readWorldOptions(info[0].As<Napi::Object>());
    const auto meeting = info[1].As<Napi::Object>();
    const auto text = [&](const char* field) {
      const Napi::Value value = meeting.Get(field);
      return value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
    };
    std::optional<RendezvousPoint> point;
    if (const std::string address = text("address"); !address.empty()) {
      point = readAddress(address);
      point->secret = text("secret");
      if (point->secret.empty()) point->secret = readSecret([](const char* name) { return std::getenv(name); });
      point->hostName = text("host");
    }
    const auto cancelled = std::make_shared<Atomic<uint32_t>>();
    auto* worker =
        new JoinWorker(info.Env(), options, meeting.Get("job").As<Napi::String>().Utf8Value(),
                       meeting.Get("rank").As<Napi::Number>().Uint32Value(),
                       meeting.Get("timeoutMillis").As<Napi::Number>().Uint32Value(), std::move(point), cancelled);
    Napi::Object result = Napi::Object::New(info.Env());
    result.Set("segment", worker->promise());
    result.Set("cancel", Napi::Function::New(info.Env(), [cancelled](const Napi::CallbackInfo&) {
                 cancelled->store(1, order::relaxed);
               }));
    worker->Queue();
    return result;
  });
}

}  // namespace dfccl::addon
