// A program that links this library has these functions in place of the C library's, also in the libraries that it loads. They
// count the calls, and call glibc's own functions by their other names, so that glibc's `free` frees the blocks.

#include "AllocationCounter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__GLIBC__) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

// One counter for all threads, because an operation may use several threads. Nothing else runs meanwhile.
static atomic_ulong count;

static void add(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

bool allocationsAreCounted(void) { return true; }

unsigned long allocationCount(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

void *malloc(size_t size) {
    add();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    add();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    add();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    add();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *made = memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *block = made;
    return 0;
}

#else

bool allocationsAreCounted(void) { return false; }

unsigned long allocationCount(void) { return 0; }

#endif
