#ifndef CORAL_CELL_WIDTH_H
#define CORAL_CELL_WIDTH_H

// The number of cells of a terminal that a character occupies, in the locale of the thread; -1 for one that cannot be displayed.
// This is wcwidth(3), which the C library does not declare for Swift.
int cell_width(unsigned int scalar);

#endif
