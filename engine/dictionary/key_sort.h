/*
 * key_sort.h: sort distinct keys by their bytes as memcmp does, a prefix before its extensions, on
 * all threads of a pool.
 */
#ifndef EMOGI_KEY_SORT_H
#define EMOGI_KEY_SORT_H

#include "dictionary/key_table_parts.h"
#include "threads/job.h"

typedef struct EmogiSortedKey
{
	uint64_t	code;			/* internal to the sort: 7 bytes of the key, and how many of them it
								 * has */
	const EmogiKeyRecord *record;
} EmogiSortedKey;

/* Get the bytes of scratch memory for nkeys keys. */
extern size_t emogi_key_sort_scratch_bytes(uint64_t nkeys, int nthreads);

/*
 * Sort keys[nkeys]; only their records need to be set. All memory must be populated; scratch is
 * EMOGI_LINE_BYTES-aligned and uninitialized. False if the job was stopped; the order is then
 * undefined.
 */
extern bool emogi_key_sort(EmogiPool *pool, EmogiSortedKey *keys, uint64_t nkeys, void *scratch,
						   EmogiJob *job);

#endif							/* EMOGI_KEY_SORT_H */
