/*
 * prefetch.h: a prefetch that the compiler does not drop.
 */
#ifndef EMOGI_PREFETCH_H
#define EMOGI_PREFETCH_H

/*
 * Prefetch the cache line of an address. gcc 12 treats a function that contains only
 * __builtin_prefetch as pure and drops calls of it unless it is inlined early; the empty asm
 * statement, which is opaque to the compiler, keeps them.
 */
static inline void
emogi_prefetch(const void *address)
{
	__builtin_prefetch(address);
	__asm__ volatile("");
}

#endif							/* EMOGI_PREFETCH_H */
