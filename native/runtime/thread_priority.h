// Threads that must run on time even if all cores are busy.
#pragma once

namespace umaprobe {

// Names the calling thread and makes it as urgent as this user may. False: it is no more urgent
// than others.
bool raise_priority(const char* name);

}  // namespace umaprobe
