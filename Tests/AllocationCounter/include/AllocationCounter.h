#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

/// Whether a program that links this target counts its allocations: with glibc, and without a sanitizer, which replaces malloc
/// itself.
bool allocationsAreCounted(void);

/// The number of blocks of memory that this process has allocated, on all its threads. Enlarging a block counts as an
/// allocation.
unsigned long allocationCount(void);

#endif
