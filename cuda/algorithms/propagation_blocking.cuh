/*
 * propagation_blocking.cuh: PageRank's iterations over a Graph in device memory, with all that is read or added to at random in shared memory.
 *
 * Method. A sweep that gathers (gather.cu) takes a sector of the second-level cache an entry, however narrow the value. Here
 * entries are streamed, and values are numbers of 40 bits, which are added as integers:
 *
 *   labels    all arrays lie in the order of labels (degree_order.cuh), the sources of most edges first; these are cut into blocks of
 *             BLOCK_SOURCES, whose values fit the shared memory of a multiprocessor, and the vertices where edges end, the
 *             sinks, into bins of BIN_SINKS, whose sums do.
 *   rows      the edges from the first blocks, if they have many, lie in the order of their sinks: sources are numbers of 16
 *             bits, and the values come from shared memory.
 *   cells     the others lie in the order of (block of the source, bin of the sink). "Scatter" writes the value of each entry, with
 *             the block's values in shared memory; "collect" adds those of a bin in shared memory. This is propagation blocking
 *             [1], with the order of the entries made once.
 *   finish    makes ranks of the sums, and the next values.
 *
 * Numbers. Shares are integers of 36 significant bits (contract/rank_units.h): as a number of 40 bits, a mantissa of 36 and an
 * exponent of 4, of the base 4. Sums of integers are the same in any order, so two runs, and all engines, give the same bits, though
 * atomic operations come in any order.
 *
 * PropagationBlocks are made for a Graph in device placement with many entries, for a query of many iterations whose ranks are integers, and
 * where there is room. They are kept with the Graph, and their arrays that a run writes with them.
 *
 * Device memory, for n vertices, m entries, of which h are in rows: 9 (m - h) + 2.1 h, 21n, 4n a block of rows; 8n of a run that
 * has proportions of leaps. While they are made: 8n, 8n a block of rows, 4 a cell. kron and urand of scale 24: 3.2 and 5.2 GB.
 *
 * Bytes of an iteration: 14 (m - h), 2.1 h, 45n. Bytes of making them: 8m, 8m random ones of the 4n of labels, 4m written in short
 * runs; two atomic operations an entry and fewer.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson: Reducing Pagerank Communication via Propagation Blocking. IPDPS 2017.
 */
#ifndef EMOGI_PROPAGATION_BLOCKING_CUH
#define EMOGI_PROPAGATION_BLOCKING_CUH

#include "cuda/lists/degree_order.cuh"

/* Tuned constants, of b490201. The figures of an NVIDIA H200 in bench/RESULTS.md (PageRank by bins) are with these values. */
#define BLOCK_SOURCES 36864u	/* 180 KB of values of 5 bytes: the first-level cache, where reads under way wait, has the rest */
#define BIN_SINKS 24576u		/* 192 KB of sums of 8 bytes */
#define MAX_HUBS 2				/* blocks whose entries are in rows */
#define BINS_THREADS 1024		/* of the kernels that fill shared memory: one block a multiprocessor */

#define NO_SOURCE BLOCK_SOURCES	/* whose value is 0, for padding */
#define NO_SINK BIN_SINKS
#define BINS_WARPS (BINS_THREADS / WARP_LANES)
#define CELL_ENTRIES 8u			/* cells begin at multiples of it: what a lane reads at once */
#define BLOCK_BYTES ((BLOCK_SOURCES + 16) * (sizeof(uint32_t) + sizeof(uint8_t)))
#define BIN_BYTES (BIN_SINKS * 2 * sizeof(uint32_t))
#define STATIC_BYTES 1024		/* of shared memory, at most, beside these */

/* Entries from one block of sources, sink after sink; chunks are as in edge_chunks.cuh. All arrays here are in device memory. */
typedef struct Rows
{
	uint32_t	nentries;
	uint32_t	nrows;			/* sinks that have any */
	uint32_t	nchunks;
	/* [nchunks * CHUNK_ENTRIES], number in the block; NO_SOURCE behind the last */
	uint16_t   *source;
	/* [nchunks * CHUNK_ENTRIES / 32], bit e: entry e is the first of its row */
	uint32_t   *begins;
	uint32_t   *chunk_row;		/* [nchunks], rows that begin before the chunk */
	uint32_t   *sink;			/* [nrows], label */
} Rows;

/* What a block of threads takes at once: entries of one block of sources (scatter), or cells of one bin (collect). */
typedef struct BinUnit
{
	uint32_t	number;			/* of the block of sources, or the bin */
	/* entries first .. upto - 1, or the cells of blocks of sources first .. upto - 1 */
	uint32_t	first;
	uint32_t	upto;
	uint32_t	piece;	/* collect: every `npieces`th stretch of each cell, from this one on */
	uint32_t	npieces;
	uint32_t	share;			/* warps that share a cell: a power of 2 up to BINS_WARPS */
} BinUnit;

/* What an iteration adds up, in units. */
typedef struct BinOutcome
{
	unsigned long long change;	/* emogi_rank_units_change */
	unsigned long long dangling;	/* rank of all vertices without an edge out */
} BinOutcome;

typedef struct PropagationBlocks
{
	uint32_t	nvertices;		/* 0 = there are none */
	uint32_t	nhubs;			/* blocks of sources in rows */
	uint32_t	nblocks;		/* of sources in cells */
	uint32_t	nbins;			/* of sinks */
	uint32_t	nentries;		/* in cells, padding included */
	uint32_t	nscatter;		/* units */
	uint32_t	ncollect;
	uint32_t	turn;			/* which outcome is that of the last iteration */
	Rows		rows[MAX_HUBS];
	uint32_t   *vertex;			/* [nvertices], number of each label */
	uint32_t   *degree;			/* [nvertices], edges out */
	uint32_t   *cell;			/* [nblocks * nbins + 1], where the entries of (block, bin) begin */
	uint16_t   *source;			/* [nentries], number in the block, or NO_SOURCE */
	uint16_t   *sink;			/* [nentries], number in the bin, or NO_SINK */
	BinUnit    *scatter;		/* [nscatter] */
	BinUnit    *collect;		/* [ncollect] */

	/* Written by runs. */
	/* [(nhubs + nblocks) * BLOCK_SOURCES], the upper 32 bits of each label's value; 0 behind the last */
	uint32_t   *word;
	uint8_t    *low;			/* the same of the lower 8 */
	uint32_t   *entry_word;		/* [nentries] */
	uint8_t    *entry_low;		/* [nentries] */
	unsigned long long *sum;	/* [nbins * BIN_SINKS], in units */
	uint32_t   *next;			/* [2], the next unit to scatter, and to collect */
	BinOutcome *outcome;		/* [2] */

	/* [nvertices], of a run, by label: proportions of the leaps; NULL = all alike */
	const double *leap;
} PropagationBlocks;

/* Say whether a run is one for bins, as far as the query and the size and placement of the Graph tell. */
extern bool emogi_propagation_blocking_suit(const Run *run, const EmogiQuery *query);

/* Find the PropagationBlocks that were kept, of the Graph's forward lists, whose targets are `array` in host memory. */
extern EmogiStatus emogi_propagation_blocking_find(Run *run, const Target *array,
												   PropagationBlocks *bins, EmogiError *error);

/* Make PropagationBlocks, and keep them, when there is room without evicting anything. `outline` is that of the lists. */
extern EmogiStatus emogi_propagation_blocking_make(Run *run, const Target *array,
												   const ListIndex *outline, const Degrees *degrees,
												   PropagationBlocks *bins, EmogiError *error);

/*
 * Queue what gives every vertex its first rank, 1/n. rank[nvertices] is in the order of labels; leap[nvertices] in that of vertices,
 * or NULL.
 */
extern EmogiStatus emogi_propagation_blocking_start(Run *run, PropagationBlocks *bins,
													const double *leap, double *rank,
													EmogiError *error);

/* Make an iteration, wait for it, and get the change. */
extern EmogiStatus emogi_propagation_blocking_iterate(Run *run, PropagationBlocks *bins,
													  double damping, double *rank, double *change,
													  EmogiError *error);

/* Queue the copying of ranks to the order of vertices. */
extern EmogiStatus emogi_propagation_blocking_collect_ranks(Run *run, const PropagationBlocks *bins,
															const double *rank, double *to,
															EmogiError *error);

/* Say whether the device has the shared memory for it. */
static inline bool
emogi_propagation_blocking_fit(const EmogiEngineState *state)
{
	return state->shared_bytes >= BLOCK_BYTES + STATIC_BYTES &&
		state->shared_bytes >= BIN_BYTES + STATIC_BYTES;
}

/* Bring the kernels to the device. */
extern EmogiStatus emogi_propagation_blocking_load(const EmogiEngineState *state,
												   EmogiError *error);
extern EmogiStatus emogi_propagation_blocking_make_load(EmogiError *error);

#endif							/* EMOGI_PROPAGATION_BLOCKING_CUH */
