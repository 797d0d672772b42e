// Signals of this process that are for the program that it runs: their handlers write to a pipe,
// also while JavaScript is blocked, and for the real-time signals, which Node cannot listen to.
#pragma once

namespace umaprobe {

// Takes every signal that a program can take, except SIGCHLD, and returns the end of the pipe to
// read from; -1: there is none, or they are taken already.
int take_signals();
// Restores the signal handlers from before.
void return_signals();

}  // namespace umaprobe
