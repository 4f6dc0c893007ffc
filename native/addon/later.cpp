#include "later.hpp"

#include <optional>
#include <utility>

#include "error_conversion.hpp"

namespace dfccl::addon {
namespace {

class Later : public Napi::AsyncWorker {
 public:
  Later(Napi::Env env, const Napi::Object& held, std::function<void()> work)
      : Napi::AsyncWorker(env), promise_(Napi::Promise::Deferred::New(env)), work_(std::move(work)) {
    if (!held.IsEmpty()) held_ = Napi::Persistent(held);
  }
  Napi::Promise promise() const { return promise_.Promise(); }

  void Execute() override {
    try {
      work_();
    } catch (const Error& error) {
      failure_ = error;
    }
  }
  void OnOK() override {
    if (failure_) {
      promise_.Reject(toJavaScript(Env(), *failure_).Value());
    } else {
      promise_.Resolve(Env().Undefined());
    }
  }
  void OnError(const Napi::Error& error) override { promise_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred promise_;
  Napi::ObjectReference held_;
  std::function<void()> work_;
  std::optional<Error> failure_;
};

}  // namespace

Napi::Promise later(Napi::Env env, const Napi::Object& held, std::function<void()> work) {
  auto* worker = new Later(env, held, std::move(work));  // deletes itself
  const Napi::Promise promise = worker->promise();
  worker->Queue();
  return promise;
}

}  // namespace dfccl::addon
