#include "error_conversion.hpp"

namespace dfccl::addon {

Napi::Error toJavaScript(Napi::Env env, const Error& error) {
  Napi::Error converted = Napi::Error::New(env, error.message());
  Napi::Object object = converted.Value();
  object.Set("status", Napi::Number::New(env, error.status()));
  object.Set("remedy", Napi::String::New(env, error.remedy()));
  Napi::Object facts = Napi::Object::New(env);
  for (const auto& [name, value] : error.facts()) facts.Set(name, value);
  object.Set("facts", facts);
  return converted;
}

}  // namespace dfccl::addon
