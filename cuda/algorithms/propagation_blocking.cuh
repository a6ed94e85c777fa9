/*
 * propagation_blocking.cuh: PageRank iterations by propagation blocking, on a graph in device
 * memory, with all random accesses in shared memory.
 *
 * Method. A pull sweep (semiring_sum.cu) takes a sector of the L2 cache an entry, however narrow
 * the value. Here entries are streamed. Values are 40-bit floating-point numbers, which are added
 * as integers.
 *   labels    all arrays are in the order of labels (degree_order.cuh), vertices of highest
 *             out-degree first. Sources are cut into blocks of BLOCK_SOURCES, whose values fit in
 *             the shared memory of a multiprocessor. Sinks, the vertices where edges end, are cut
 *             into bins of BIN_SINKS, whose sums fit there.
 *   rows      the edges from the first blocks, if there are many, are in the order of their
 *             sinks. Sources are 16-bit numbers, and their values come from shared memory.
 *   cells     the other edges are in the order of (block of the source, bin of the sink).
 *             "Scatter" writes the value of each entry, with the block's values in shared memory;
 *             "collect" adds the values of a bin in shared memory. This is propagation blocking
 *             [1], with the entries sorted once.
 *   finish    computes ranks from the sums, and the next values.
 *
 * Numbers. Shares are integers of 36 significant bits (contract/rank_units.h). A 40-bit number has
 * a mantissa of 36 bits and an exponent of 4 bits, to the base 4. Integer sums do not depend on the
 * order. So two runs, and all engines, give the same bits, although atomics execute in any order.
 *
 * PropagationBlocks are built for a graph in device placement with many entries, for a query of
 * many iterations with integer ranks, if there is room. They are cached with the graph, including
 * the arrays that runs write.
 *
 * Device memory, for n vertices and m entries, h of them in rows: 9 (m - h) + 2.1 h, 21n, 4n a
 * block of rows; 8n of a run with a teleport distribution. During the build: 8n, 8n a block of
 * rows, 4 a cell. kron and urand of scale 24: 3.2 and 5.2 GB.
 *
 * Bytes an iteration: 14 (m - h), 2.1 h, 45n. Bytes of the build: 8m, 8m random ones of the 4n of
 * labels, 4m written in short runs; at most two atomics an entry.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson: Reducing Pagerank Communication via Propagation
 *     Blocking. IPDPS 2017.
 */
#ifndef EMOGI_PROPAGATION_BLOCKING_CUH
#define EMOGI_PROPAGATION_BLOCKING_CUH

#include "cuda/lists/degree_order.cuh"

/*
 * Tuned constants, of b490201. The figures of an NVIDIA H200 in bench/RESULTS.md (PageRank by bins)
 * are with these values.
 */
#define BLOCK_SOURCES 36864u	/* 180 KB of 5-byte values: the rest is L1 cache, which buffers
								 * the reads in flight */
#define BIN_SINKS 24576u		/* 192 KB of 8-byte sums */
#define MAX_HUBS 2				/* blocks of sources in rows */
#define BINS_THREADS 1024		/* of the kernels that fill shared memory: one block per
								 * multiprocessor */

#define NO_SOURCE BLOCK_SOURCES	/* a source of value 0, for padding */
#define NO_SINK BIN_SINKS
#define BINS_WARPS (BINS_THREADS / WARP_LANES)
#define CELL_ENTRIES 8u			/* cells start at multiples of it: the entries that a lane reads
								 * at once */
#define BLOCK_BYTES ((BLOCK_SOURCES + 16) * (sizeof(uint32_t) + sizeof(uint8_t)))
#define BIN_BYTES (BIN_SINKS * 2 * sizeof(uint32_t))
#define STATIC_BYTES 1024		/* upper bound of the static shared memory beside these */

/*
 * Entries of one block of sources, sorted by sink; chunks are as in edge_chunks.cuh. All arrays in
 * this file are in device memory.
 */
typedef struct Rows
{
	uint32_t	nentries;
	uint32_t	nrows;			/* sinks with entries */
	uint32_t	nchunks;
	/* [nchunks * CHUNK_ENTRIES], number in the block; NO_SOURCE after the last */
	uint16_t   *source;
	/* [nchunks * CHUNK_ENTRIES / 32], bit e: entry e is the first of its row */
	uint32_t   *begins;
	uint32_t   *chunk_row;		/* [nchunks], rows that begin before the chunk */
	uint32_t   *sink;			/* [nrows], label */
} Rows;

/*
 * Work unit of a thread block: entries of one block of sources (scatter), or cells of one bin
 * (collect).
 */
typedef struct BinUnit
{
	uint32_t	number;			/* of the block of sources, or of the bin */
	/*
	 * entries first .. upto - 1 (scatter), or the cells of blocks of sources first .. upto - 1
	 * (collect)
	 */
	uint32_t	first;
	uint32_t	upto;
	uint32_t	piece;			/* collect: every `npieces`th stretch of each cell, starting with
								 * this one */
	uint32_t	npieces;
	uint32_t	share;			/* warps that share a cell: a power of 2 up to BINS_WARPS */
} BinUnit;

/* Sums of an iteration, in rank units. */
typedef struct BinOutcome
{
	unsigned long long change;	/* emogi_rank_units_change */
	unsigned long long dangling;	/* rank of all vertices without an outgoing edge */
} BinOutcome;

typedef struct PropagationBlocks
{
	uint32_t	nvertices;		/* 0 = not built */
	uint32_t	nhubs;			/* blocks of sources in rows */
	uint32_t	nblocks;		/* blocks of sources in cells */
	uint32_t	nbins;			/* of sinks */
	uint32_t	nentries;		/* in cells, including padding */
	uint32_t	nscatter;		/* number of units */
	uint32_t	ncollect;
	uint32_t	turn;			/* index of the last iteration's outcome */
	Rows		rows[MAX_HUBS];
	uint32_t   *vertex;			/* [nvertices], vertex of each label */
	uint32_t   *degree;			/* [nvertices], out-degree */
	uint32_t   *cell;			/* [nblocks * nbins + 1], first entry of (block, bin) */
	uint16_t   *source;			/* [nentries], number in the block, or NO_SOURCE */
	uint16_t   *sink;			/* [nentries], number in the bin, or NO_SINK */
	BinUnit    *scatter;		/* [nscatter] */
	BinUnit    *collect;		/* [ncollect] */

	/* Written by runs: */
	/* [(nhubs + nblocks) * BLOCK_SOURCES], upper 32 bits of each label's value; 0 after the last */
	uint32_t   *word;
	uint8_t    *low;			/* lower 8 bits of the same */
	uint32_t   *entry_word;		/* [nentries] */
	uint8_t    *entry_low;		/* [nentries] */
	unsigned long long *sum;	/* [nbins * BIN_SINKS], in rank units */
	uint32_t   *next;			/* [2], the next unit to scatter and to collect */
	BinOutcome *outcome;		/* [2] */

	/* [nvertices], by label, of a run: teleport distribution; NULL = uniform */
	const double *teleport;
} PropagationBlocks;

/*
 * Say whether the query and the size and placement of the graph are suited to propagation blocking.
 */
extern bool emogi_propagation_blocking_is_suitable(const Run *run, const EmogiQuery *query);

/*
 * Get the cached PropagationBlocks of the graph's forward lists. `array`: their targets in host
 * memory.
 */
extern EmogiStatus emogi_propagation_blocking_find(Run *run, const Target *array,
												   PropagationBlocks *bins, EmogiError *error);

/*
 * Build and cache PropagationBlocks, if they fit without evicting anything. `list_index`: index of
 * the lists.
 */
extern EmogiStatus emogi_propagation_blocking_make(Run *run, const Target *array,
												   const ListIndex *list_index, const Degrees *degrees,
												   PropagationBlocks *bins, EmogiError *error);

/*
 * Queue the initialization of all ranks to 1/n. rank[nvertices] is in the order of labels;
 * teleport[nvertices] in the order of vertices, or NULL.
 */
extern EmogiStatus emogi_propagation_blocking_start(Run *run, PropagationBlocks *bins,
													const double *teleport, double *rank,
													EmogiError *error);

/* Run an iteration, wait for it, and get the change. */
extern EmogiStatus emogi_propagation_blocking_iterate(Run *run, PropagationBlocks *bins,
													  double damping, double *rank, double *change,
													  EmogiError *error);

/* Queue a copy of the ranks in the order of vertices. */
extern EmogiStatus emogi_propagation_blocking_collect_ranks(Run *run, const PropagationBlocks *bins,
															const double *rank, double *to,
															EmogiError *error);

/* Say whether the device has enough shared memory. */
static inline bool
emogi_propagation_blocking_fits(const EmogiEngineState *state)
{
	return state->shared_bytes >= BLOCK_BYTES + STATIC_BYTES &&
		state->shared_bytes >= BIN_BYTES + STATIC_BYTES;
}

#endif							/* EMOGI_PROPAGATION_BLOCKING_CUH */
