/*
 * msbfs.h: multi-source breadth-first search: up to 64 independent searches at a time, with the
 * threads of a pool.
 *
 * The result is stored in one block of memory supplied by the caller, in the smaller of two
 * formats; emogi_msbfs_next() reads either. It contains no pointers, so that another process can
 * read it from shared memory.
 *
 *   rows   nplanes > 0: rows[nsources][row_words] words. Each 64 vertices take nplanes words: bit
 *          i of word k is bit k of the code of the i-th vertex. A code is the level + 1, and 0 if
 *          the source does not reach the vertex.
 *   lists  nplanes = 0: vertices uint32[starts[nsources]], then levels uint8[starts[nsources]];
 *          those of source s are starts[s] .. starts[s + 1] - 1, vertices ascending.
 *
 * A caller that needs only the number of vertices that a source reaches, and their distances in
 * sum, asks for sums: these take no memory, and levels may be arbitrarily deep.
 */
#ifndef EMOGI_MSBFS_H
#define EMOGI_MSBFS_H

#include "contract/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMOGI_MSBFS_SOURCES 64
#define EMOGI_MSBFS_VERTICES 64	/* vertices that are packed and unpacked together */
#define EMOGI_MSBFS_PLANES 8	/* maximum: levels 0 .. 254 */

/* Sums over the levels of the vertices that a source has reached. */
typedef struct EmogiMsbfsSums
{
	uint64_t	count;			/* of vertices; if 0, the other fields are undefined */
	uint64_t	sum;
	uint32_t	min;
	uint32_t	max;
	double		harmonic;		/* sum of 1 / level, level by level; level 0 adds nothing */
} EmogiMsbfsSums;

/*
 * The same sums by vertex, over the sources that have reached it. A search adds to them, level by
 * level.
 */
typedef struct EmogiMsbfsTotals
{
	int64_t    *count;			/* [nvertices] */
	double	   *sum;			/* [nvertices] */
	double	   *harmonic;		/* [nvertices] */
} EmogiMsbfsTotals;

typedef struct EmogiMsbfsResult
{
	/* Set by the caller. */
	bool		wants_sums;		/* only sums: memory may be NULL, and too_deep is not set */
	uint32_t	first_level;	/* first level included in sums */
	uint32_t	last_level;		/* last level included in sums */
	const EmogiMsbfsTotals *totals; /* sums by vertex, over all levels; NULL = none */
	uint64_t	done;			/* progress of the longer run of which this search is a part, for
								 * control->done */
	uint64_t	total;			/* likewise; 0 = unknown */
	void	   *memory;			/* aligned to EMOGI_LINE_BYTES, undefined content */
	uint64_t	memory_bytes;	/* emogi_msbfs_bytes() or less, which lowers the deepest level
								 * that can be stored */
	void	   *scratch;		/* emogi_msbfs_scratch_bytes(), aligned likewise, zeroed; zero
								 * again afterwards if the status is OK, so that the next search
								 * need not clear new memory. NULL = none */

	/* Set by the search. */
	bool		too_deep;		/* memory has no room for some levels: the rest is undefined */
	uint64_t	nvertices;
	int			nsources;
	int			nplanes;
	uint64_t	row_words;
	uint64_t	used_bytes;		/* of memory, from its beginning; the rest was not touched */
	uint64_t	starts[EMOGI_MSBFS_SOURCES + 1];
	uint64_t	nreached[EMOGI_MSBFS_SOURCES];	/* by each source, including itself */
	EmogiMsbfsSums sums[EMOGI_MSBFS_SOURCES];	/* of each source, if wants_sums */
	uint32_t	nlevels;		/* levels entered by any source, including level 0 */
	uint64_t	edges_traversed;	/* edges examined */
	double		run_ms;
} EmogiMsbfsResult;

/*
 * Get the memory that results with levels up to max_depth may take; -1 = up to 254, the deepest
 * that can be stored.
 */
extern uint64_t emogi_msbfs_bytes(uint64_t nvertices, int nsources, int64_t max_depth);

/*
 * Get the bytes of scratch memory worth keeping between searches of levels up to max_depth; -1 =
 * any.
 */
extern uint64_t emogi_msbfs_scratch_bytes(uint64_t nvertices, int64_t max_depth);

/*
 * Search from each of sources[nsources], as EmogiEngine.msbfs does, in the calling thread alone:
 * for small graphs, in any process.
 */
extern EmogiStatus emogi_msbfs_run_alone(const EmogiGraph *graph, const uint32_t *sources,
										 int nsources, int64_t max_depth, EmogiMsbfsResult *result,
										 EmogiControl *control, EmogiError *error);

/* ---- the choice between one search together and one from each source ---- */

/* A search from many sources costs at least as much as so many from one source. */
#define EMOGI_MSBFS_MIN_COST 8
#define EMOGI_MSBFS_START_EDGES 4096	/* cost of starting a search, in edges */

/* What searches from single sources took. */
typedef struct EmogiMsbfsSingles
{
	uint64_t	count;
	uint64_t	edges_traversed;	/* by all of them */
	uint32_t	nlevels;		/* of the deepest one */
} EmogiMsbfsSingles;

/* Add a search from one source. */
static inline void
emogi_msbfs_note_single(EmogiMsbfsSingles *singles, uint32_t nlevels, uint64_t edges_traversed)
{
	singles->count++;
	singles->edges_traversed += edges_traversed;
	if (singles->nlevels < nlevels)
		singles->nlevels = nlevels;
}

/*
 * Estimate from at least one single search whether nsources cost less together than one by one. A
 * level of a search from many sources is a pass over the vertices, since some source has a frontier
 * nearly everywhere, and a pass costs about as much as scanning as many edges. Levels that cannot
 * be stored are never reached together.
 */
static inline bool
emogi_msbfs_is_cheaper(uint64_t nvertices, uint64_t nsources, const EmogiMsbfsSingles *singles)
{
	const double single = (double) singles->edges_traversed / (double) singles->count +
		EMOGI_MSBFS_START_EDGES;
	const double passes = (double) singles->nlevels * (double) nvertices;
	const double min = EMOGI_MSBFS_MIN_COST * single;

	return singles->nlevels < 1 << EMOGI_MSBFS_PLANES &&
		single * (double) nsources > (passes > min ? passes : min);
}

/* The position of a reader in one source's result; all zero = at the beginning. */
typedef struct EmogiMsbfsCursor
{
	uint64_t	next;			/* lists: index in the list; rows: the next 64 vertices to unpack */
	uint64_t	reached;		/* rows: the vertices among the last 64 that are still to be
								 * returned */
	uint8_t		code[EMOGI_MSBFS_VERTICES];	/* rows: their codes */
} EmogiMsbfsCursor;

/* Spread 8 bits over 8 bytes, bit i to byte i, each 0 or 1. */
static inline uint64_t
emogi_msbfs_spread_bits(uint64_t bits)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	return ((((bits * ones) & UINT64_C(0x8040201008040201)) + 127 * ones) >> 7) & ones;
}

/* Unpack the codes of the next 64 vertices of a row. */
static inline void
emogi_msbfs_unpack(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor)
{
	const uint64_t *planes = (const uint64_t *) result->memory + (uint64_t) source *
	result->row_words +
		cursor->next++ * (uint64_t) result->nplanes;
	uint64_t	codes[8] = {0};

	cursor->reached = 0;
	for (int k = 0; k < result->nplanes; k++)
	{
		cursor->reached |= planes[k];
		for (int i = 0; i < 8; i++)
			codes[i] |= emogi_msbfs_spread_bits(planes[k] >> (8 * i) & 0xFF) << k;
	}
	__builtin_memcpy(cursor->code, codes, sizeof(codes));
}

/*
 * Get the next vertex that a source has reached, in ascending order, and its level; false at the
 * end.
 */
static inline bool
emogi_msbfs_next(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor,
				 uint32_t *vertex, uint32_t *level)
{
	int			i;

	if (result->nplanes == 0)
	{
		const uint32_t *vertices = (const uint32_t *) result->memory;
		const uint8_t *levels = (const uint8_t *) (vertices + result->starts[result->nsources]);
		const uint64_t at = result->starts[source] + cursor->next;

		if (at >= result->starts[source + 1])
			return false;
		*vertex = vertices[at];
		*level = levels[at];
		cursor->next++;
		return true;
	}
	while (cursor->reached == 0)
	{
		if (cursor->next * 64 >= result->nvertices)
			return false;
		emogi_msbfs_unpack(result, source, cursor);
	}
	i = __builtin_ctzll(cursor->reached);
	cursor->reached &= cursor->reached - 1;
	*vertex = (uint32_t) ((cursor->next - 1) * 64) + (uint32_t) i;
	*level = (uint32_t) cursor->code[i] - 1;
	return true;
}

/*
 * Get the next vertices that a source has reached, in ascending order, and their levels: as many as
 * are available together, at most EMOGI_MSBFS_VERTICES; 0 at the end.
 */
static inline int
emogi_msbfs_next_batch(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor,
					   uint32_t *vertices, uint32_t *levels)
{
	int			n = 0;

	while (n < EMOGI_MSBFS_VERTICES &&
		   emogi_msbfs_next(result, source, cursor, &vertices[n], &levels[n]))
	{
		n++;
		if (result->nplanes > 0 && cursor->reached == 0)
			break;
	}
	return n;
}

/*
 * Skip to the first reached vertex >= `min` that the cursor has not passed. Only rows save time
 * by it.
 */
static inline void
emogi_msbfs_skip_to(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor,
					uint64_t min)
{
	if (result->nplanes == 0)
		return;
	if (min / 64 >= cursor->next)
	{
		cursor->next = min / 64;
		emogi_msbfs_unpack(result, source, cursor);
	}
	if (min / 64 + 1 == cursor->next)
		cursor->reached &= ~UINT64_C(0) << (min % 64);
}

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_MSBFS_H */
