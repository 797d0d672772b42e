// libstdc++ 12 reads __libc_single_threaded (glibc 2.32) to leave out atomic operations. 0 means
// "there may be threads", which is always right in Node.
char __libc_single_threaded = 0;
