/*
 * shards_bytes.cuh: size of shards, and the device memory that the formats take. Plain inline C
 * that gcc accepts too.
 *
 * For n vertices, m entries, S = ceil(n / width) shards, V bytes per value and W bytes per weight:
 *   CSR       n V + 8 (n + 1)                + m (4 + W)
 *   SHARDS    n V + 8 (S + 1) + 8 S (S + 1)  + m (8 + V + W)
 *   WINDOWS   n V + 16 (S + 1)               + m (8 + V + W + P)
 *
 * P is 4, or 8 from 2^32 entries on.
 *
 * [1, section 5, memory] compares the same sums, without the windows' positions; there V, W and the
 * indexes all have 4 bytes. Here values have 8 bytes, except hops and components, and W is that of
 * the graph (0 without weights).
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#ifndef EMOGI_SHARDS_BYTES_CUH
#define EMOGI_SHARDS_BYTES_CUH

#include <math.h>

#include "contract/engine.h"

#define SHARD_WINDOW 32			/* intended entries per window: one per lane */
/* the number of a shard's vertices is a multiple of it, so that a shard starts on a line */
#define SHARD_UNIT 32

/* The three formats of a graph for CuSha's applications. */
typedef enum EmogiShardFormat
{
	EMOGI_SHARD_CSR = 0,
	EMOGI_SHARD_SHARDS,
	EMOGI_SHARD_WINDOWS
} EmogiShardFormat;

typedef struct EmogiShardShape
{
	uint64_t	nvertices;
	uint64_t	nentries; /* edges; twice as many for components of a graph that is not symmetric */
	uint32_t	width;			/* vertices per shard; the last shard may have fewer */
	uint32_t	nshards;
	uint32_t	value_bytes;
	uint32_t	weight_bytes;
} EmogiShardShape;

/*
 * Choose the number of vertices per shard, given the shared memory that a block may use,
 * shared_bytes, and the bytes per vertex, vertex_bytes. A window has m width^2 / n^2 entries on
 * average ([1], section 3.2); with width = n sqrt(32 / m) that is one warp, so that the lanes that
 * write a window back are busy. For sparse graphs, shared memory is the limit, and windows are
 * smaller.
 */
static inline void
emogi_shards_shape(EmogiShardShape *shape, uint32_t vertex_bytes, uint32_t shared_bytes)
{
	const double nentries = shape->nentries > 0 ? (double) shape->nentries : 1;
	const double ideal = (double) shape->nvertices * sqrt(SHARD_WINDOW / nentries);
	const uint32_t max_width = shared_bytes / vertex_bytes / SHARD_UNIT * SHARD_UNIT;
	const double units = ceil(ideal / SHARD_UNIT);

	shape->width = units < max_width / SHARD_UNIT ? (uint32_t) units * SHARD_UNIT : max_width;
	shape->nshards = (uint32_t) ((shape->nvertices + shape->width - 1) / shape->width);
}

/* Return the bytes of an entry's position. */
static inline uint32_t
emogi_shards_place_bytes(uint64_t nentries)
{
	return nentries >> 32 == 0 ? 4 : 8;
}

/* Return the bytes of device memory for a graph and the values of its vertices in a format. */
static inline uint64_t
emogi_shards_bytes(const EmogiShardShape *shape, EmogiShardFormat format)
{
	const uint64_t m = shape->nentries;
	const uint64_t nshards = shape->nshards;
	const uint64_t vertices = shape->nvertices * shape->value_bytes;
	const uint64_t entries = m * (2 * sizeof(uint32_t) + shape->value_bytes + shape->weight_bytes);

	switch (format)
	{
		case EMOGI_SHARD_SHARDS:
			return vertices + (nshards + 1) * (nshards + 1) * sizeof(uint64_t) + entries;
		case EMOGI_SHARD_WINDOWS:
			return vertices + 2 * (nshards + 1) * sizeof(uint64_t) + entries +
				m * emogi_shards_place_bytes(m);
		case EMOGI_SHARD_CSR:
			break;
	}
	return vertices + (shape->nvertices + 1) * sizeof(uint64_t) +
		m * (sizeof(uint32_t) + shape->weight_bytes);
}

#endif							/* EMOGI_SHARDS_BYTES_CUH */
