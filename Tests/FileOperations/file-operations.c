// Records what a process does to the files of a folder, and lets one of these operations fail: a library that is loaded
// before the C library. Scripts/run-power-loss and Scripts/run-faults compile it and read what it records.
//
//   CORAL_FOLDER       the folder, as an absolute path without links
//   CORAL_RECORD       the file that receives the records; none if absent
//   CORAL_FAULT_AT     the number of the operation that fails, from 1; none if absent
//   CORAL_FAULT_CODE   the value of errno, EIO if absent
//   CORAL_FAULT_LASTS  if present, all operations after that one fail too
//
// A record is a header, then the bytes of two fields. Operations:
//   C created a file: number of the file, path         M made a folder: number, path
//   W wrote: number, offset, bytes                     R set the size: number, size
//   S synced: number of a file or folder               N renamed: old path, new path
//   U removed a name: path                             L added a name: old path, new path
//
// Shared memory (-shm) is left out: SQLite makes it anew after a crash. The files are not mapped for writing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_LIMIT 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static int record = -1;
static long fault_at, count;
static int fault_code = EIO, fault_lasts;
static unsigned char followed[FILE_LIMIT];

__attribute__((constructor)) static void begin(void) {
    const char *value = getenv("CORAL_FOLDER");
    if (value) snprintf(folder, sizeof folder, "%s", value);
    if ((value = getenv("CORAL_RECORD")))
        record = (int)syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((value = getenv("CORAL_FAULT_AT"))) fault_at = atol(value);
    if ((value = getenv("CORAL_FAULT_CODE"))) fault_code = atoi(value);
    fault_lasts = getenv("CORAL_FAULT_LASTS") != NULL;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// MARK: - Paths

/// The absolute path of a name without links in its folders, if it is in the folder; otherwise false.
static int locate(int base, const char *path, char *result) {
    if (!folder[0] || !path) return 0;
    char full[PATH_MAX * 2];
    if (path[0] == '/') {
        snprintf(full, sizeof full, "%s", path);
    } else {
        char start[PATH_MAX], link[64];
        if (base == AT_FDCWD) {
            if (!getcwd(start, sizeof start)) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", base);
            ssize_t length = readlink(link, start, sizeof start - 1);
            if (length < 0) return 0;
            start[length] = 0;
        }
        snprintf(full, sizeof full, "%s/%s", start, path);
    }
    size_t length = strlen(full);
    while (length > 1 && full[length - 1] == '/') full[--length] = 0;
    char *name = strrchr(full, '/');
    char parent[PATH_MAX];
    if (name == full) return 0;
    *name++ = 0;
    if (!realpath(full, parent)) return 0;
    if (snprintf(result, PATH_MAX, "%s/%s", parent, name) >= PATH_MAX) return 0;
    size_t prefix = strlen(folder);
    if (strncmp(result, folder, prefix) || (result[prefix] != '/' && result[prefix])) return 0;
    length = strlen(result);
    return length < 4 || strcmp(result + length - 4, "-shm");
}

static int follows(int file) { return file >= 0 && file < FILE_LIMIT && followed[file]; }

static uint64_t number(int file) {
    struct stat status;
    return fstat(file, &status) ? 0 : status.st_ino;
}

// MARK: - Records

struct header {
    char operation;
    char padding[7];
    uint64_t number, position;
    uint32_t first, second;
};

static void note(char operation, uint64_t number, uint64_t position, const void *first, size_t first_length,
                 const void *second, size_t second_length) {
    if (record < 0) return;
    int code = errno;
    struct header header = {.operation = operation, .number = number, .position = position,
                            .first = (uint32_t)first_length, .second = (uint32_t)second_length};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)first, first_length}, {(void *)second, second_length}};
    (void)!syscall(SYS_writev, record, parts, 3);
    errno = code;
}

/// Counts an operation; true if it fails.
static int fails(void) {
    count++;
    if (!fault_at || count < fault_at || (count > fault_at && !fault_lasts)) return 0;
    errno = fault_code;
    return 1;
}

// MARK: - Opening

static int opened(int base, const char *path, int flags, mode_t mode) {
    char place[PATH_MAX];
    int is_ours = locate(base, path, place);
    pthread_mutex_lock(&lock);
    struct stat status;
    int existed = is_ours && fstatat(AT_FDCWD, place, &status, 0) == 0;
    if (is_ours && !existed && (flags & O_CREAT) && fails()) {
        pthread_mutex_unlock(&lock);
        return -1;
    }
    int file = (int)syscall(SYS_openat, base, path, flags, mode);
    if (file >= 0 && file < FILE_LIMIT) followed[file] = is_ours;
    if (file >= 0 && is_ours) {
        if (!existed && (flags & O_CREAT)) note('C', number(file), 0, place, strlen(place), NULL, 0);
        if (existed && (flags & O_TRUNC)) note('R', number(file), 0, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return file;
}

#define MODE                                          \
    mode_t mode = 0;                                  \
    if (flags & (O_CREAT | __O_TMPFILE)) {            \
        va_list arguments;                            \
        va_start(arguments, flags);                   \
        mode = va_arg(arguments, mode_t);             \
        va_end(arguments);                            \
    }

int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int base, const char *path, int flags, ...) { MODE return opened(base, path, flags, mode); }
int openat64(int base, const char *path, int flags, ...) { MODE return opened(base, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int mkostemp(char *pattern, int flags) {
    int file = NEXT(mkostemp)(pattern, flags);
    char place[PATH_MAX];
    if (file >= 0 && file < FILE_LIMIT && (followed[file] = locate(AT_FDCWD, pattern, place)))
        note('C', number(file), 0, place, strlen(place), NULL, 0);
    return file;
}
int mkstemp(char *pattern) { return mkostemp(pattern, 0); }
int mkstemp64(char *pattern) { return mkostemp(pattern, 0); }

int close(int file) {
    if (file >= 0 && file < FILE_LIMIT) followed[file] = 0;
    return (int)syscall(SYS_close, file);
}

// MARK: - Operations of open files

#define WITH_LOCK(type, file, body)                   \
    if (!follows(file)) {                             \
        body                                          \
    }                                                 \
    pthread_mutex_lock(&lock);                        \
    if (fails()) {                                    \
        pthread_mutex_unlock(&lock);                  \
        return -1;                                    \
    }

#define END(result)                                   \
    pthread_mutex_unlock(&lock);                      \
    return result;

ssize_t write(int file, const void *bytes, size_t length) {
    WITH_LOCK(ssize_t, file, return syscall(SYS_write, file, bytes, length);)
    off_t place = fcntl(file, F_GETFL) & O_APPEND ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
    ssize_t done = syscall(SYS_write, file, bytes, length);
    if (done > 0) note('W', number(file), (uint64_t)place, bytes, (size_t)done, NULL, 0);
    END(done)
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t place) {
    WITH_LOCK(ssize_t, file, return syscall(SYS_pwrite64, file, bytes, length, place);)
    ssize_t done = syscall(SYS_pwrite64, file, bytes, length, place);
    if (done > 0) note('W', number(file), (uint64_t)place, bytes, (size_t)done, NULL, 0);
    END(done)
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t place) { return pwrite(file, bytes, length, place); }

ssize_t writev(int file, const struct iovec *parts, int number_of_parts) {
    if (!follows(file)) return syscall(SYS_writev, file, parts, number_of_parts);
    ssize_t total = 0;
    for (int index = 0; index < number_of_parts; index++) {
        ssize_t done = write(file, parts[index].iov_base, parts[index].iov_len);
        if (done < 0) return total ? total : done;
        total += done;
    }
    return total;
}

/// Notes bytes that the kernel has copied into a file.
static void copied(int file, off_t place, ssize_t length) {
    char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int reader = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    if (bytes && reader >= 0 && syscall(SYS_pread64, reader, bytes, length, place) == length)
        note('W', number(file), (uint64_t)place, bytes, (size_t)length, NULL, 0);
    if (reader >= 0) syscall(SYS_close, reader);
    free(bytes);
}

ssize_t sendfile(int file, int source, off_t *offset, size_t length) {
    WITH_LOCK(ssize_t, file, return syscall(SYS_sendfile, file, source, offset, length);)
    off_t place = lseek(file, 0, SEEK_CUR);
    ssize_t done = syscall(SYS_sendfile, file, source, offset, length);
    copied(file, place, done);
    END(done)
}

ssize_t sendfile64(int file, int source, off64_t *offset, size_t length) { return sendfile(file, source, offset, length); }

ssize_t copy_file_range(int source, off64_t *from, int file, off64_t *to, size_t length, unsigned flags) {
    WITH_LOCK(ssize_t, file, return syscall(SYS_copy_file_range, source, from, file, to, length, flags);)
    off_t place = to ? *to : lseek(file, 0, SEEK_CUR);
    ssize_t done = syscall(SYS_copy_file_range, source, from, file, to, length, flags);
    copied(file, place, done);
    END(done)
}

int ftruncate(int file, off_t size) {
    WITH_LOCK(int, file, return (int)syscall(SYS_ftruncate, file, size);)
    int code = (int)syscall(SYS_ftruncate, file, size);
    if (!code) note('R', number(file), (uint64_t)size, NULL, 0, NULL, 0);
    END(code)
}

int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

static int reserve(int file, off_t start, off_t length) {
    struct stat status;
    int code = (int)syscall(SYS_fallocate, file, 0, start, length);
    if (!code && !fstat(file, &status)) note('R', status.st_ino, (uint64_t)status.st_size, NULL, 0, NULL, 0);
    return code;
}

int fallocate(int file, int mode, off_t start, off_t length) {
    WITH_LOCK(int, file, return (int)syscall(SYS_fallocate, file, mode, start, length);)
    int code = mode ? (errno = EOPNOTSUPP, -1) : reserve(file, start, length);
    END(code)
}

int posix_fallocate(int file, off_t start, off_t length) {
    if (!follows(file)) return syscall(SYS_fallocate, file, 0, start, length) ? errno : 0;
    return fallocate(file, 0, start, length) ? errno : 0;
}

int posix_fallocate64(int file, off64_t start, off64_t length) { return posix_fallocate(file, start, length); }

static int synced(int file, long call) {
    WITH_LOCK(int, file, return (int)syscall(call, file);)
    int code = (int)syscall(call, file);
    if (!code) note('S', number(file), 0, NULL, 0, NULL, 0);
    END(code)
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

// MARK: - Operations of names

static int renamed(int old_base, const char *old, int new_base, const char *new, unsigned flags) {
    char from[PATH_MAX], to[PATH_MAX];
    int is_ours = locate(old_base, old, from) & locate(new_base, new, to);
    pthread_mutex_lock(&lock);
    int code = is_ours && fails() ? -1 : (int)syscall(SYS_renameat2, old_base, old, new_base, new, flags);
    if (!code && is_ours) note(flags & RENAME_EXCHANGE ? 'X' : 'N', 0, 0, from, strlen(from), to, strlen(to));
    pthread_mutex_unlock(&lock);
    return code;
}

int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int a, const char *old, int b, const char *new) { return renamed(a, old, b, new, 0); }
int renameat2(int a, const char *old, int b, const char *new, unsigned flags) { return renamed(a, old, b, new, flags); }

static int removed(int base, const char *path, int flags) {
    char place[PATH_MAX];
    int is_ours = locate(base, path, place);
    pthread_mutex_lock(&lock);
    int code = is_ours && fails() ? -1 : (int)syscall(SYS_unlinkat, base, path, flags);
    if (!code && is_ours) note('U', 0, 0, place, strlen(place), NULL, 0);
    pthread_mutex_unlock(&lock);
    return code;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int base, const char *path, int flags) { return removed(base, path, flags); }
int remove(const char *path) {
    struct stat status;
    return !lstat(path, &status) && S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

static int linked(int old_base, const char *old, int new_base, const char *new, int flags) {
    char from[PATH_MAX], to[PATH_MAX];
    int is_ours = locate(old_base, old, from) & locate(new_base, new, to);
    pthread_mutex_lock(&lock);
    int code = is_ours && fails() ? -1 : (int)syscall(SYS_linkat, old_base, old, new_base, new, flags);
    if (!code && is_ours) note('L', 0, 0, from, strlen(from), to, strlen(to));
    pthread_mutex_unlock(&lock);
    return code;
}

int link(const char *old, const char *new) { return linked(AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int a, const char *old, int b, const char *new, int flags) { return linked(a, old, b, new, flags); }

static int made(int base, const char *path, mode_t mode) {
    char place[PATH_MAX];
    struct stat status;
    int is_ours = locate(base, path, place);
    pthread_mutex_lock(&lock);
    int exists = is_ours && !fstatat(AT_FDCWD, place, &status, 0);
    int code = is_ours && !exists && fails() ? -1 : (int)syscall(SYS_mkdirat, base, path, mode);
    if (!code && is_ours && !fstatat(AT_FDCWD, place, &status, 0))
        note('M', status.st_ino, 0, place, strlen(place), NULL, 0);
    pthread_mutex_unlock(&lock);
    return code;
}

int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int base, const char *path, mode_t mode) { return made(base, path, mode); }
