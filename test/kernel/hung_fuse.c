// A FUSE file system with one file, /file, that stops answering, and a command that runs on it:
//   hung_fuse <mount point> <request> <command> [arguments]
// The request ("lookup", "getattr", "open", "read", "readdir", "flush") is taken from the kernel
// and never answered, which leaves its caller in an uninterruptible sleep. SIGTERM, and the end of
// the command, abort all requests; the exit code is the command's. Speaks the protocol itself, so
// that the test needs no library.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRoot = FUSE_ROOT_ID, kFile = 2, kFileBytes = 1 << 20 };

static int device;

static void reply(const struct fuse_in_header* request, int error, const void* body, size_t bytes) {
  char buffer[sizeof(struct fuse_out_header) + 4096];
  struct fuse_out_header* header = (struct fuse_out_header*)buffer;
  header->len = sizeof *header + (error ? 0 : bytes);
  header->error = -error;
  header->unique = request->unique;
  if (!error) memcpy(buffer + sizeof *header, body, bytes);
  if (write(device, buffer, header->len) < 0 && errno != ENOENT) perror("write /dev/fuse");
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.ino = node;
  attr.mode = node == kRoot ? S_IFDIR | 0755 : S_IFREG | 0644;
  attr.nlink = 1;
  attr.size = node == kRoot ? 0 : kFileBytes;
  attr.blksize = 4096;
  return attr;
}

static void read_directory(const struct fuse_in_header* request, const struct fuse_read_in* in) {
  char buffer[256];
  memset(buffer, 0, sizeof buffer);
  if (in->offset > 0) return reply(request, 0, buffer, 0);
  struct fuse_dirent* entry = (struct fuse_dirent*)buffer;
  entry->ino = kFile;
  entry->off = 1;
  entry->namelen = 4;
  entry->type = DT_REG;
  memcpy(entry->name, "file", 4);
  reply(request, 0, buffer, FUSE_DIRENT_SIZE(entry));
}

static void answer(const struct fuse_in_header* request, const void* body) {
  switch (request->opcode) {
    case FUSE_INIT: {
      struct fuse_init_out out;
      memset(&out, 0, sizeof out);
      out.major = FUSE_KERNEL_VERSION;
      out.minor = FUSE_KERNEL_MINOR_VERSION;
      out.max_write = 4096;
      return reply(request, 0, &out, sizeof out);
    }
    case FUSE_LOOKUP: {
      if (strcmp(body, "file") != 0) return reply(request, ENOENT, NULL, 0);
      struct fuse_entry_out out;
      memset(&out, 0, sizeof out);
      out.nodeid = kFile;
      out.attr = attributes(kFile);
      return reply(request, 0, &out, sizeof out);
    }
    case FUSE_GETATTR: {
      struct fuse_attr_out out;
      memset(&out, 0, sizeof out);
      out.attr = attributes(request->nodeid);
      return reply(request, 0, &out, sizeof out);
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
      struct fuse_open_out out;
      memset(&out, 0, sizeof out);
      return reply(request, 0, &out, sizeof out);
    }
    case FUSE_READDIR:
      return read_directory(request, body);
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
      return reply(request, 0, NULL, 0);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      return;  // no answer is expected
    default:
      return reply(request, ENOSYS, NULL, 0);
  }
}

static uint32_t opcode_of(const char* name) {
  static const struct {
    const char* name;
    uint32_t opcode;
  } kOpcodes[] = {{"lookup", FUSE_LOOKUP},   {"open", FUSE_OPEN},       {"read", FUSE_READ},
                  {"readdir", FUSE_READDIR}, {"getattr", FUSE_GETATTR}, {"flush", FUSE_FLUSH}};
  for (size_t i = 0; i < sizeof kOpcodes / sizeof *kOpcodes; ++i)
    if (strcmp(kOpcodes[i].name, name) == 0) return kOpcodes[i].opcode;
  return 0;
}

static volatile sig_atomic_t ending;

static void end(int signal) {
  (void)signal;
  ending = 1;
}

static void serve(uint32_t hung) {
  static char buffer[1 << 17] __attribute__((aligned(8)));
  while (!ending) {
    const ssize_t bytes = read(device, buffer, sizeof buffer);
    if (bytes < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
    if (bytes <= 0) return;  // unmounted
    const struct fuse_in_header* request = (const struct fuse_in_header*)buffer;
    if (request->opcode != hung) answer(request, buffer + sizeof *request);
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction action = {.sa_handler = end};  // without SA_RESTART: ends the read
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGCHLD, &action, NULL);
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return perror("open /dev/fuse"), 99;
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (mount("hung_fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
    return perror("mount"), 99;
  const pid_t command = fork();
  if (command == 0) {
    execv(argv[3], argv + 3);
    _exit(127);
  }
  serve(opcode_of(argv[2]));
  close(device);  // the last descriptor: aborts every request
  int status = 0;
  while (waitpid(command, &status, 0) < 0 && errno == EINTR) continue;
  umount2(argv[1], MNT_DETACH);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
