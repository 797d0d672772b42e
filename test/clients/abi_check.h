// Whether two functions can be called in place of each other: as many arguments, each passed the
// same way. Names of types differ on purpose: ours are plain, so that no SDK is needed.
#pragma once
#include <type_traits>

namespace abi {

template <typename Type>
constexpr int passed_as() {
  return std::is_pointer_v<Type>                            ? 1
         : std::is_integral_v<Type> || std::is_enum_v<Type> ? 2
         : std::is_floating_point_v<Type>                   ? 3
         : std::is_void_v<Type>                             ? 4
                                                            : 5;
}

template <typename A, typename B>
constexpr bool same() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_void_v<A> && std::is_void_v<B>;
  } else {
    return passed_as<A>() == passed_as<B>() && sizeof(A) == sizeof(B);
  }
}

template <typename A, typename B>
struct Alike : std::false_type {};
template <typename R, typename... As, typename S, typename... Bs>
struct Alike<R (*)(As...), S (*)(Bs...)> {
  static constexpr bool arguments() {
    if constexpr (sizeof...(As) == sizeof...(Bs)) {
      return (same<As, Bs>() && ...);
    } else {
      return false;
    }
  }
  static constexpr bool value = same<R, S>() && arguments();
};
template <typename R, typename... As, typename B>
struct Alike<R (*)(As...) noexcept, B> : Alike<R (*)(As...), B> {};

template <typename Ours, typename Theirs>
constexpr bool alike(Ours, Theirs) {
  return Alike<Ours, Theirs>::value;
}

}  // namespace abi
