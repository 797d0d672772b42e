// Paths as JavaScript strings. A path is bytes, and one that is not UTF-8 must survive the round
// trip through a report. So each byte that does not fit becomes the lone surrogate U+DC00 + byte,
// which valid text never contains, and is converted back (as in Python's PEP 383).
#pragma once

#include <node_api.h>

#include <string>

#include "base/values.h"

namespace umaprobe {

std::u16string utf16_of_path(const std::string& bytes);
std::string path_of_utf16(const std::u16string& text);

napi_value to_js(napi_env env, const PathText& path);

}  // namespace umaprobe
