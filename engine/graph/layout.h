/*
 * layout.h: lay out line-aligned arrays, padded to whole lines, one after the other in a block.
 */
#ifndef EMOGI_LAYOUT_H
#define EMOGI_LAYOUT_H

#include "contract/engine.h"

/* Round bytes up to whole lines. */
static inline size_t
emogi_whole_lines(size_t bytes)
{
	return (bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
}

/* Get the next array of `bytes` at *place, a line-aligned address, and advance. */
static inline void *
emogi_carve(uintptr_t *place, size_t bytes)
{
	uintptr_t	array = *place;

	*place += emogi_whole_lines(bytes);
	return (void *) array;
}

#endif							/* EMOGI_LAYOUT_H */
