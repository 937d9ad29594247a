#define _XOPEN_SOURCE 700
#include "CCellWidth.h"
#include <wchar.h>

int cell_width(unsigned int scalar) { return wcwidth((wchar_t)scalar); }
