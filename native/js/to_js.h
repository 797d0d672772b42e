// Converts facts to JavaScript values.
//
// Uses Node's C interface without the C++ wrapper: a reading has some sixty properties and is
// converted for every snapshot. Statuses are ignored: these calls fail only while an environment is
// torn down, and then the value is never used.
#pragma once

#include <node_api.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/failure.h"
#include "base/unknown.h"
#include "base/values.h"

namespace umaprobe {

// V8 copies a text of one byte per character, and decodes any other one: 1.4 instead of 3 µs for a
// page of /proc/vmstat.
inline napi_value to_js(napi_env env, const std::string& text) {
  // All bits together, and not the first that is set: the compiler takes 16 bytes at a time.
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  const bool is_ascii = bits < 0x80;
  const auto create = is_ascii ? napi_create_string_latin1 : napi_create_string_utf8;
  napi_value value = nullptr;
  create(env, text.data(), text.size(), &value);
  return value;
}

inline napi_value to_js(napi_env env, bool truth) {
  napi_value value = nullptr;
  napi_get_boolean(env, truth, &value);
  return value;
}

template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
napi_value to_js(napi_env env, Number number) {
  napi_value value = nullptr;
  napi_create_double(env, static_cast<double>(number), &value);
  return value;
}

inline napi_value to_js(napi_env env, const Numbers& numbers) {
  const std::vector<double>& values = numbers.values;
  void* data = nullptr;
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  napi_create_arraybuffer(env, values.size() * sizeof(double), &data, &buffer);
  if (data) std::copy(values.begin(), values.end(), static_cast<double*>(data));
  napi_create_typedarray(env, napi_float64_array, values.size(), buffer, 0, &array);
  return array;
}

inline napi_value null_js(napi_env env) {
  napi_value value = nullptr;
  napi_get_null(env, &value);
  return value;
}

napi_value to_js(napi_env env, const Failure& failure);
template <class T>
napi_value to_js(napi_env env, const Fact<T>& fact);
template <class T>
napi_value to_js(napi_env env, const std::vector<T>& list);
template <class A, class B>
napi_value to_js(napi_env env, const std::pair<A, B>& both);
template <class T>
auto to_js(napi_env env, const T& record)
    -> decltype(std::declval<T>().visit(std::declval<class Fields&>()), napi_value());

// Visits a report struct and builds an object of its fields.
class Fields {
 public:
  explicit Fields(napi_env env) : env_(env) { napi_create_object(env, &object_); }

  template <class T>
  void operator()(const char* name, const T& value) {
    set(name, to_js(env_, value));
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) set(name, to_js(env_, *value));
  }
  template <class T>
  void nullable(const char* name, const std::optional<T>& value) {
    set(name, value ? to_js(env_, *value) : null_js(env_));
  }

  // Fields that a line has as well.
  Fields& text(const char* name, const char* value) {
    set(name, value ? to_js(env_, std::string(value)) : null_js(env_));
    return *this;
  }
  Fields& number(const char* name, double value) {
    set(name, known(value) ? to_js(env_, value) : null_js(env_));
    return *this;
  }
  Fields& boolean(const char* name, bool value) {
    set(name, to_js(env_, value));
    return *this;
  }

  napi_value object() const { return object_; }

 private:
  void set(const char* name, napi_value value) {
    napi_set_named_property(env_, object_, name, value);
  }

  napi_env env_;
  napi_value object_ = nullptr;
};

template <class T>
auto to_js(napi_env env, const T& record)
    -> decltype(std::declval<T>().visit(std::declval<Fields&>()), napi_value()) {
  Fields fields(env);
  record.visit(fields);
  return fields.object();
}

inline napi_value to_js(napi_env env, const Failure& failure) {
  Fields fields(env);
  fields("failed", true);
  fields("source", std::string(failure.source));
  fields("call", failure.call);
  fields.nullable("status", failure.status);
  fields("name", failure.name);
  fields("message", failure.message);
  return fields.object();
}

template <class T>
napi_value to_js(napi_env env, const Fact<T>& fact) {
  return std::visit([env](const auto& value) { return to_js(env, value); }, fact);
}

template <class T>
napi_value to_js(napi_env env, const std::vector<T>& list) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, list.size(), &array);
  uint32_t index = 0;
  for (const T& item : list) napi_set_element(env, array, index++, to_js(env, item));
  return array;
}

template <class A, class B>
napi_value to_js(napi_env env, const std::pair<A, B>& both) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, 2, &array);
  napi_set_element(env, array, 0, to_js(env, both.first));
  napi_set_element(env, array, 1, to_js(env, both.second));
  return array;
}

// null if there is no failure.
inline napi_value to_js(napi_env env, const std::optional<Failure>& failure) {
  return failure ? to_js(env, *failure) : null_js(env);
}

}  // namespace umaprobe
