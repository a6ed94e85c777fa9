/*
 * radix.h: single-threaded sorting of unsigned integers.
 */
#ifndef EMOGI_RADIX_H
#define EMOGI_RADIX_H

#include "threads/job.h"

/* Entries of scratch that make good use of a second-level cache; more gains nothing. */
#define EMOGI_SORT_SCRATCH 65536

/*
 * Sort keys[count] ascending, with scratch[scratch_count] (scratch_count >= 1, undefined content).
 * Arrays longer than the scratch are split in place first. Returns early, with keys undefined, if
 * the job has stopped.
 */
extern void emogi_radix_sort_u32(uint32_t *keys, size_t count, uint32_t *scratch,
								 size_t scratch_count, EmogiJob *job);
extern void emogi_radix_sort_u64(uint64_t *keys, size_t count, uint64_t *scratch,
								 size_t scratch_count, EmogiJob *job);

#endif							/* EMOGI_RADIX_H */
