/*
 * shards_bytes.cuh: how large shards are, and what they take of device memory. Plain inline C that gcc takes too.
 *
 * Of n vertices, m entries, S = ceil(n / width) shards, V bytes of a value and W bytes of a weight:
 *   CSR       n V + 8 (n + 1)                   + m (4 + W)
 *   SHARDS    n V + 8 (S + 1) + 8 S (S + 1)     + m (8 + V + W)
 *   WINDOWS   n V + 16 (S + 1)                  + m (8 + V + W + P)       P = 4, or 8 from 2^32 entries on
 * [1, section 5, memory] compares the same sums, without the windows' places; there every one of V, W and the indexes is 4
 * bytes. Here values are 8 bytes but for hops and components, W is that of the Graph (0 without weights).
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on GPUs. HPDC 2014.
 */
#ifndef EMOGI_SHARDS_BYTES_CUH
#define EMOGI_SHARDS_BYTES_CUH

#include <math.h>

#include "contract/engine.h"

#define SHARD_WINDOW 32			/* entries that a window shall have: one for each lane */
#define SHARD_UNIT 32			/* a shard's vertices are a multiple of it, so that it starts on a line */

/* The three formats that take a Graph for CuSha's applications. */
typedef enum EmogiShardFormat
{
	EMOGI_SHARD_CSR = 0,
	EMOGI_SHARD_SHARDS,
	EMOGI_SHARD_WINDOWS
} EmogiShardFormat;

typedef struct EmogiShardShape
{
	uint64_t	nvertices;
	uint64_t	nentries;		/* edges; twice as many for components of a Graph that is not symmetric */
	uint32_t	width;			/* vertices of a shard, the last one's may be fewer */
	uint32_t	nshards;
	uint32_t	value_bytes;
	uint32_t	weight_bytes;
} EmogiShardShape;

/*
 * Choose the vertices of a shard, `shared_bytes` being what a block may have of shared memory, of which a vertex takes
 * vertex_bytes. A window has m width^2 / n^2 entries on average [1, section 3.2]; with width = n sqrt(32 / m) that is a
 * warp, so that the lanes that write a window back are busy. Shared memory is the limit of sparse graphs, whose
 * windows are smaller.
 */
static inline void
emogi_shards_shape(EmogiShardShape *shape, uint32_t vertex_bytes, uint32_t shared_bytes)
{
	const double nentries = shape->nentries > 0 ? (double) shape->nentries : 1;
	const double ideal = (double) shape->nvertices * sqrt(SHARD_WINDOW / nentries);
	const uint32_t most = shared_bytes / vertex_bytes / SHARD_UNIT * SHARD_UNIT;
	const double units = ceil(ideal / SHARD_UNIT);

	shape->width = units < most / SHARD_UNIT ? (uint32_t) units * SHARD_UNIT : most;
	shape->nshards = (uint32_t) ((shape->nvertices + shape->width - 1) / shape->width);
}

/* Bytes of the place of an entry. */
static inline uint32_t
emogi_shards_place_bytes(uint64_t nentries)
{
	return nentries >> 32 == 0 ? 4 : 8;
}

/* Bytes of device memory that a Graph and the values of its vertices take in a format. */
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
			return vertices + 2 * (nshards + 1) * sizeof(uint64_t) + entries + m * emogi_shards_place_bytes(m);
		case EMOGI_SHARD_CSR:
			break;
	}
	return vertices + (shape->nvertices + 1) * sizeof(uint64_t) + m * (sizeof(uint32_t) + shape->weight_bytes);
}

#endif							/* EMOGI_SHARDS_BYTES_CUH */
