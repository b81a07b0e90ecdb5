/*
 * Laid before the C library (LD_PRELOAD), it makes what changes the database or the journal fail, as a sick disk would.
 * The file that SPGW_FAULT_CONTROL names holds two bytes, read at each call: the error number for the database and that
 * for the journal; 0 lets it through.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile unsigned char *control;

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("SPGW_FAULT_CONTROL");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *map = mmap(NULL, 2, PROT_READ, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) control = map;
}

static int fault_at(const char *path) {
  if (!control) return 0;
  if (strstr(path, "/journal/")) return control[1];
  return strstr(path, "spgw.db") ? control[0] : 0;
}

static int fault_of(int file) {
  if (!control || (!control[0] && !control[1])) return 0;
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fault_at(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REFUSE(fault) \
  do { \
    int number = (fault); \
    if (number) { \
      errno = number; \
      return -1; \
    } \
  } while (0)

#define ON_FILE(type, name, parameters, arguments) \
  type name parameters { \
    REFUSE(fault_of(file)); \
    return REAL(name) arguments; \
  }

ON_FILE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
ON_FILE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
ON_FILE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
ON_FILE(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
ON_FILE(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at), (file, parts, count, at))
ON_FILE(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at), (file, parts, count, at))
ON_FILE(int, ftruncate, (int file, off_t size), (file, size))
ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
ON_FILE(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size))
ON_FILE(int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size))

int unlink(const char *path) {
  REFUSE(fault_at(path));
  return REAL(unlink)(path);
}

int rename(const char *from, const char *to) {
  REFUSE(fault_at(to));
  return REAL(rename)(from, to);
}

static int changes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT); }

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
      va_list rest; \
      va_start(rest, flags); \
      mode = va_arg(rest, mode_t); \
      va_end(rest); \
    } \
    if (changes(flags)) REFUSE(fault_at(path)); \
    return REAL(name)(path, flags, mode); \
  }

OPENS(open)
OPENS(open64)
