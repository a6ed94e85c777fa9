/*
 * key_sort.h: sort different keys by their bytes on all threads of a pool, as memcmp does, a key before those that it begins.
 */
#ifndef EMOGI_KEY_SORT_H
#define EMOGI_KEY_SORT_H

#include "dictionary/key_table_parts.h"
#include "threads/job.h"

typedef struct EmogiSortedKey
{
	uint64_t	code;			/* of the sort: 7 bytes of the key, and how many it has of them */
	const EmogiKeyRecord *record;
} EmogiSortedKey;

/* Bytes of scratch for nkeys keys. */
extern size_t emogi_key_sort_scratch_bytes(uint64_t nkeys, int nthreads);

/*
 * Sort keys[nkeys]; only their records need be set. All memory is populated, scratch EMOGI_LINE_BYTES-aligned with any content. False when
 * the job has stopped; the order is undefined then.
 */
extern bool emogi_key_sort(EmogiPool *pool, EmogiSortedKey *keys, uint64_t nkeys, void *scratch, EmogiJob *job);

#endif							/* EMOGI_KEY_SORT_H */
