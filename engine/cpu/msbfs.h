/*
 * msbfs.h: breadth-first search from up to 64 sources at once, each by itself, by the threads of a
 * pool.
 *
 * The answer lies in one block of memory that the caller gives, in one of two forms, whichever is
 * smaller; read it with emogi_msbfs_next, which hides them. It holds no pointer: another process
 * may read it where it sees the same block.
 *   rows   nplanes > 0: rows[nsources][row_words] words. For each 64 vertices nplanes words follow one another: bit i of
 *          word k is bit k of the code of the i-th vertex. A code is the level + 1, and 0 where the source leads not.
 *   lists  nplanes = 0: vertices uint32[starts[nsources]], then levels uint8[starts[nsources]]; those of source s from
 *          starts[s] to starts[s + 1] - 1, vertices ascending.
 * Who wants no more of a source than how many vertices it reaches, and how far they are, asks for
 * sums: they take no memory, and levels may be of any depth.
 */
#ifndef EMOGI_MSBFS_H
#define EMOGI_MSBFS_H

#include "threads/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMOGI_MSBFS_SOURCES 64
#define EMOGI_MSBFS_VERTICES 64	/* that are packed together, and unpacked at once */
#define EMOGI_MSBFS_PLANES 8	/* at most: levels 0 .. 254 */

/* What the levels come to of the vertices that a source has reached. */
typedef struct EmogiMsbfsSums
{
	uint64_t	count;			/* of the vertices; with 0 the rest is undefined */
	uint64_t	sum;
	uint32_t	least;
	uint32_t	most;
	double		harmonic;		/* of 1 / level, level by level; of level 0 nothing */
} EmogiMsbfsSums;

/*
 * The same by vertex: of the sources that have reached it. What a search finds is added, level by
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
	/* Given by the caller. */
	bool		wants_sums;		/* and no more: memory may be NULL, too_deep will not be set */
	uint32_t	first_level;	/* of those that the sums are made of, */
	uint32_t	last_level;		/* to this one */
	const EmogiMsbfsTotals *totals; /* of all levels, too; NULL = none */
	uint64_t	done;			/* of a longer run that this is a part of, for control->done */
	uint64_t	total;			/* likewise; 0 = not known */
	void	   *memory;			/* aligned to EMOGI_LINE_BYTES, any content */
	uint64_t	memory_bytes;	/* emogi_msbfs_bytes() or less: the deepest level that can be
								 * told is lower then */
	void	   *scratch;		/* emogi_msbfs_scratch_bytes(), aligned likewise, all zero; left
								 * all zero when the status is OK, so that the next search need
								 * not clear new memory. NULL = none */

	/* Filled by the search. */
	bool		too_deep;		/* there are levels that memory has no room for: the rest is
								 * undefined */
	uint64_t	nvertices;
	int			nsources;
	int			nplanes;
	uint64_t	row_words;
	uint64_t	used_bytes;		/* of memory, from its start: the rest was not touched */
	uint64_t	starts[EMOGI_MSBFS_SOURCES + 1];
	uint64_t	nreached[EMOGI_MSBFS_SOURCES];	/* by each source, itself included */
	EmogiMsbfsSums sums[EMOGI_MSBFS_SOURCES];	/* if wanted: of each source */
	uint32_t	nlevels;		/* levels entered by any source, their own (0) included */
	uint64_t	edges_traversed;	/* list entries that were looked at */
	double		run_ms;
} EmogiMsbfsResult;

/*
 * Get the memory that answers of levels up to max_depth may take; -1 = up to 254, the deepest that
 * can be told.
 */
extern uint64_t emogi_msbfs_bytes(uint64_t nvertices, int nsources, int64_t max_depth);

/*
 * Get the bytes of scratch memory that are worth keeping from search to search of levels up to
 * max_depth, -1 = any.
 */
extern uint64_t emogi_msbfs_scratch_bytes(uint64_t nvertices, int64_t max_depth);

/*
 * Search from each of sources[nsources], 1 .. 64 vertex numbers, repeats allowed, up to max_depth
 * hops; -1 = no bound. The lists of graph->backward, when it is there, save work. When
 * result->too_deep is set (status EMOGI_OK), ask for the sources one by one.
 */
extern EmogiStatus emogi_msbfs_run(EmogiPool *pool, const EmogiGraph *graph,
								   const uint32_t *sources, int nsources, int64_t max_depth,
								   EmogiMsbfsResult *result, EmogiControl *control,
								   EmogiError *error);

/*
 * Search from the next of a run's sources[nsources], those from `first` on, as one of its many
 * searches, and add what is counted to the run's result; gets how many there were, 0 = the job has
 * stopped.
 */
struct EmogiCpuRun;				/* cpu_run.h */
extern int	emogi_msbfs_run_next(struct EmogiCpuRun *run, const EmogiGraph *graph,
								 const uint32_t *sources, uint64_t nsources, uint64_t first,
								 int64_t max_depth, EmogiMsbfsResult *result);

/* Where a reader of one source's answer stands; all zero = at its beginning. */
typedef struct EmogiMsbfsCursor
{
	uint64_t	next;			/* lists: index in the list; rows: the 64 vertices to be unpacked
								 * next */
	uint64_t	reached;		/* rows: of the 64 unpacked last, those that are still to come */
	uint8_t		code[EMOGI_MSBFS_VERTICES];	/* rows: theirs */
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
 * come at once, at most EMOGI_MSBFS_VERTICES; 0 at the end.
 */
static inline int
emogi_msbfs_fill(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor,
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
 * Go on to the first vertex reached from `least` on, which is none that the cursor has passed.
 * Saves time with rows only.
 */
static inline void
emogi_msbfs_skip_to(const EmogiMsbfsResult *result, int source, EmogiMsbfsCursor *cursor,
					uint64_t least)
{
	if (result->nplanes == 0)
		return;
	if (least / 64 >= cursor->next)
	{
		cursor->next = least / 64;
		emogi_msbfs_unpack(result, source, cursor);
	}
	if (least / 64 + 1 == cursor->next)
		cursor->reached &= ~UINT64_C(0) << (least % 64);
}

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_MSBFS_H */
