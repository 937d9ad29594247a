#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

/// Whether a program that links this target counts its allocations: with glibc, and without a sanitizer, which stands in
/// malloc's place itself.
bool allocationsAreCounted(void);

/// How many blocks of memory this process has asked for so far, on all its threads. A block that is made larger counts again.
unsigned long allocationCount(void);

#endif
