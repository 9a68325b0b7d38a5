/* Counts every sync a process makes, and makes each take as much longer as it is told to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int (*real_fsync)(int), (*real_fdatasync)(int);
static unsigned long count;
static int out = -1;
static useconds_t delay;

__attribute__((constructor)) static void begin(void) {
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    const char *path = getenv("SYNC_COUNT");
    const char *slow = getenv("SYNC_DELAY_US");
    if (path) out = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (slow) delay = atoi(slow);
}

static void note(void) {
    unsigned long now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (out >= 0 && pwrite(out, &now, sizeof now, 0) < 0) abort();
    if (delay) usleep(delay);
}

int fsync(int fd) { note(); return real_fsync(fd); }
int fdatasync(int fd) { note(); return real_fdatasync(fd); }
