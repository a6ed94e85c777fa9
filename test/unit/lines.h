/*
 * lines.h: check of arrays in whole cache lines, as kernels read them
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/engine.h"

/* Return true if an array is aligned, and its last line is filled with zeros. */
static inline bool
line_aligned(const void *array, size_t bytes)
{
	const char *end = (const char *) array + bytes;

	if ((uintptr_t) array % EMOGI_LINE_BYTES != 0)
		return false;
	for (; (uintptr_t) end % EMOGI_LINE_BYTES != 0; end++)
	{
		if (*end != 0)
			return false;
	}
	return true;
}

#endif
