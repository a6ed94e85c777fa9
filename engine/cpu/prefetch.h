/*
 * prefetch.h: asking for memory ahead, in functions that do nothing else.
 */
#ifndef EMOGI_PREFETCH_H
#define EMOGI_PREFETCH_H

/*
 * Have memory bring the line of an address. Calls of a function that only has __builtin_prefetch
 * are dropped by gcc 12, as if it was pure, unless it is inlined early: the empty statement, into
 * which the compiler does not look, keeps them.
 */
static inline void
emogi_prefetch(const void *address)
{
	__builtin_prefetch(address);
	__asm__ volatile("");
}

#endif							/* EMOGI_PREFETCH_H */
