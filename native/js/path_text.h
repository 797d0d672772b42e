// Paths as JavaScript strings. A path is bytes; one that is not UTF-8 must come back from a report
// as the same file, so each byte that does not fit becomes the lone surrogate U+DC00 + byte, which
// no valid text contains, and back (the way of Python's PEP 383).
#pragma once

#include <node_api.h>

#include <string>

#include "base/values.h"

namespace umaprobe {

std::u16string utf16_of_path(const std::string& bytes);
std::string path_of_utf16(const std::u16string& text);

napi_value to_js(napi_env env, const PathText& path);

}  // namespace umaprobe
