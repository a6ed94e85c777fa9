/*
 * key_numbers.h: shared declarations of key_numbers.c, key_numbers_sorted.c and csr.c.
 */
#ifndef EMOGI_KEY_NUMBERS_H
#define EMOGI_KEY_NUMBERS_H

#include "contract/builder.h"
#include "threads/job.h"

/* Maximum number of keys per call of emogi_key_numbers_translate. */
#define EMOGI_KEYS_BATCH 1024

/* Translate count <= EMOGI_KEYS_BATCH keys, all of which occur among the edges, to numbers. */
extern void emogi_key_numbers_translate(const EmogiKeyNumbers *keys, const int64_t *key,
									  uint32_t *number, size_t count);

/*
 * Get the keys of both ends of `count` edges of a chunk from `first` on, [2 * count]: in place, or
 * copied to buffer.
 */
static inline const int64_t *
emogi_edge_keys(const EmogiEdges *edges, const EmogiEdgeChunk *chunk, uint64_t first,
				uint64_t count, int64_t *buffer)
{
	const EmogiWeightedEdge *weighted = (const EmogiWeightedEdge *) chunk->edges + first;

	if (!edges->weighted)
		return &chunk->edges[first].src;
	for (uint64_t i = 0; i < count; i++)
	{
		buffer[2 * i] = weighted[i].src;
		buffer[2 * i + 1] = weighted[i].dst;
	}
	return buffer;
}

/* Write share `part` of nparts of ids[nvertices]. */
extern void emogi_key_numbers_write_ids(const EmogiKeyNumbers *keys, int64_t *ids, uint64_t part,
										uint64_t nparts);

/* key_numbers_sorted.c: the method EMOGI_KEYS_SORTED. */
extern size_t emogi_key_numbers_sorted_bytes(uint64_t nedges, uint64_t max_vertices);
extern bool emogi_key_numbers_sorted_build(EmogiPool *pool, const EmogiEdges *edges,
										   uint64_t max_vertices, void *scratch,
										   EmogiKeyNumbers *keys, EmogiJob *job);
extern void emogi_key_numbers_sorted_translate(const EmogiKeyNumbers *keys, const int64_t *key,
											 uint32_t *number, size_t count);

/* Write the message of a failed job, and return its status. */
extern EmogiStatus emogi_key_numbers_report(const EmogiJob *job, const EmogiEdges *edges,
											EmogiError *error);

#endif							/* EMOGI_KEY_NUMBERS_H */
