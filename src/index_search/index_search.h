/*
 * index_search.h: BFS and degrees over table indexes, without a graph, and collection of the edges
 * near given vertices, for a small graph of these.
 *
 * index_search_indexes.c finds and opens the indexes that lead from a vertex to its edges,
 * known_indexes.c remembers them, index_search_weights.c tells whether weights need no check, and
 * index_search_read.c reads the edges under the active snapshot. kept_indexes.c keeps indexes and scans open between the searches
 * of a plan node. index_search_bfs.c traverses them, level by level. index_search_count.c counts
 * the edges of given vertices, without reading rows if index_nulls.c proves that none lacks an end.
 * neighborhood.c, neighborhood_paths.c and neighborhood_ranked.c collect edges. index_search_keys.c
 * stores the keys that are met.
 * acquire/index_search_cost.c decides whether a search costs less than a graph, and how much it may
 * cost.
 */
#ifndef EMOGI_INDEX_SEARCH_H
#define EMOGI_INDEX_SEARCH_H

#include "access/attnum.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "nodes/pg_list.h"

#include "edges/row_filter.h"
#include "source/source.h"

/*
 * Size of the names of the indexes that a search uses, separated by a comma; truncated if longer.
 */
#define EMOGI_INDEX_NAMES_BYTES (2 * NAMEDATALEN + 2)

/*
 * The cost of a search is counted in rows read through an index. Each index descent costs as much
 * as this many rows.
 */
#define EMOGI_INDEX_DESCENT_COST 2

/*
 * Max number of leading index columns before the endpoint's column; conditions set these equal to
 * constants.
 */
#define EMOGI_INDEX_MAX_PREFIX 4

/* What a search over indexes does. */
typedef enum EmogiIndexSearchKind
{
	EMOGI_SEARCHES = 0,			/* a BFS, perhaps counting shortest paths: it answers the call */
	EMOGI_COUNTS,				/* the edges of the sources, with their weights: likewise */
	/* Edges that suffice for the call's algorithm, see neighborhood.c: */
	EMOGI_COLLECTS_WALKS,		/* of walks of at most max_depth `steps` from the sources */
	EMOGI_COLLECTS_CYCLES,		/* of cycles of at most max_depth edges through the sources */
	EMOGI_COLLECTS_NEAR,		/* of shortest paths of at most max_distance from the sources */
	EMOGI_COLLECTS_PATHS,		/* of shortest paths from sources to targets */
	EMOGI_COLLECTS_RANKED		/* of the npaths shortest simple paths of a source and a target */
} EmogiIndexSearchKind;

/*
 * Steps of walks, as text: EMOGI_STEP_ALONG an edge, AGAINST one, or either. The last repeats.
 */
#define EMOGI_STEP_ALONG '>'
#define EMOGI_STEP_AGAINST '<'
#define EMOGI_STEP_EITHER '*'

/* Does a search collect edges for a graph, instead of answering the call? */
static inline bool
emogi_index_search_collects(EmogiIndexSearchKind kind)
{
	return kind != EMOGI_SEARCHES && kind != EMOGI_COUNTS;
}

struct EmogiNeighborhood;		/* neighborhood.h */
struct EmogiKeptIndexes;		/* kept_indexes.h */

/* A search over indexes. */
typedef struct EmogiIndexSearch
{
	/*
	 * Callback: fill in the request once the key type is known; false = the task cannot use an
	 * index search.
	 */
	bool		(*describe) (struct EmogiIndexSearch *search, const EmogiKeyType *key);
	void	   *context;		/* of the caller of the search */
	Oid			function;		/* SQL function that was called */
	const List *tables;			/* OIDs of the heaps that hold rows, locked; set by acquire/ */
	struct EmogiKeptIndexes *kept;	/* of earlier searches of the same plan node; NULL = none */

	/* request */
	EmogiIndexSearchKind kind;
	EmogiDirection direction;	/* traversal direction relative to stored edges */
	int64		max_depth;		/* hops; -1 = unlimited */
	bool		counts_paths;
	EmogiKeyCoder *coder;		/* of the keys */
	const Datum *sources;		/* [nsources], keys */
	uint64		nsources;
	bool		targeted;		/* the search may end once all targets are reached */
	const Datum *targets;		/* [ntargets], keys */
	uint64		ntargets;
	bool		is_paired;		/* of source i only the paths to target i are wanted */
	const char *steps;			/* of walks */
	uint64		npaths;			/* of a ranking */
	double		max_distance;	/* of shortest paths; infinite = unlimited */
	bool		is_weighted;	/* paths are shortest by weight; set by acquire/ */
	uint64		cost_before;	/* of earlier searches that the cost limit includes */
	uint64		max_cost;		/* the search gives up above this cost */
	bool		is_doubtful;	/* statistics predict that it will give up */
	const char *missing_constraint;	/* that would prove that a build accepts the weights, without
									 * which indexes are not used; NULL = used, or not used for
									 * other reasons */

	/* result, in the memory context of the call; of a collection only as far as `neighborhood` */
	bool		is_answered;
	uint64		cost;
	double		run_ms;
	uint64		nscanned;		/* edges scanned */
	char		names[EMOGI_INDEX_NAMES_BYTES];	/* of the indexes */
	struct EmogiNeighborhood *neighborhood;	/* the edges that were collected */
	uint32		nlevels;		/* levels entered, the sources' own included */
	uint64		count;			/* vertices reached */
	int64	   *ids;			/* [count], ascending: integer keys, or 0 .. count - 1 */
	EmogiKeyBytes *keys;		/* [count], keys that are not integers, ascending; otherwise NULL */
	int32	   *levels;			/* [count] */
	double	   *paths;			/* [count], numbers of shortest paths; NULL = not counted */
	bool	   *found;			/* [nsources], whether the source is a vertex of the graph; NULL if
								 * edges are counted */
	int64	   *degrees;		/* [count], numbers of edges; NULL = not counted */
	double	   *strengths;		/* [count], sums of their weights; likewise */
} EmogiIndexSearch;

/* ---- index_search_indexes.c ---- */

/* An index of a heap that leads from one endpoint column. */
typedef struct EmogiSearchIndex
{
	Oid			heap;
	Relation	index;			/* open and locked; NULL = none */
	Oid			from_type;		/* type of the endpoint column; not a domain */
	RegProcedure equals;		/* equality function for `strategy` */
	StrategyNumber strategy;
	int			nprefix;		/* leading columns before the endpoint's */
	ScanKeyData prefix[EMOGI_INDEX_MAX_PREFIX];	/* [nprefix], scan keys with constants of
												 * conditions, in memory of the call, or of the
												 * indexes that are kept */
	AttrNumber	to;				/* attribute number of the other endpoint in the heap */
	Oid			to_type;
	AttrNumber	weight;			/* of the edge; 0 = none */
	Oid			weight_type;
	AttrNumber	reverse;		/* of the edge of the same row in the other direction; 0 = none */
	Oid			reverse_type;
} EmogiSearchIndex;

/* The indexes of a source's heaps. */
typedef struct EmogiSearchIndexes
{
	const EmogiSource *source;	/* its conditions, if any, select the rows that are edges: */
	EmogiRowFilterPlan filter;
	int			nleaves;
	EmogiSearchIndex *by_src;	/* [nleaves], from src to dst; NULL = a heap has none */
	EmogiSearchIndex *by_dst;	/* [nleaves], from dst to src; NULL = a heap has none */
	struct EmogiKeptIndexes *kept;	/* owner of all but `source`; NULL = the search */
} EmogiSearchIndexes;

/*
 * Can a source's keys be searched by index? Not if a key has several spellings, because the one
 * that is returned depends on all rows.
 */
static inline bool
emogi_index_search_supports(const EmogiSource *source)
{
	return !source->is_query && source->key.class != EMOGI_KEY_COMPARED &&
		source->key.nparts == 0;
}

extern bool emogi_index_search_suffices(const EmogiSearchIndexes *indexes,
										const EmogiIndexSearch *search);
extern bool emogi_index_search_find(const EmogiSource *source, List *heaps,
									const EmogiIndexSearch *search, EmogiSearchIndexes *indexes);
extern void emogi_index_search_release(EmogiSearchIndexes *indexes);
extern void emogi_index_search_name(const EmogiSearchIndexes *indexes, EmogiDirection direction,
									char *names);

/* ---- known_indexes.c ---- */

extern bool emogi_known_indexes_open(const EmogiSource *source, bool has_conditions, Oid heap,
									 EmogiSearchIndex *by_src, EmogiSearchIndex *by_dst);
extern void emogi_known_indexes_note(const EmogiSource *source, uint64 changes,
									 bool suits_conditions, const EmogiSearchIndex *by_src,
									 const EmogiSearchIndex *by_dst);

/* ---- kept_indexes.c ---- */

extern bool emogi_index_search_open(const EmogiSource *source, List *heaps,
									const EmogiIndexSearch *search, EmogiSearchIndexes *indexes);
extern void emogi_index_search_close(EmogiSearchIndexes *indexes);
extern struct EmogiKeptIndexes *emogi_kept_indexes_create(void);
extern void emogi_kept_indexes_close(struct EmogiKeptIndexes *kept);

/* ---- index_search_weights.c ---- */

extern char *emogi_index_search_weights_constraint(const EmogiSource *source);
extern bool emogi_index_search_weights_are_accepted(const EmogiSource *source, List *heaps,
													bool is_finite);

/* ---- index_search_bfs.c ---- */

extern bool emogi_index_search_run(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search);

/* ---- index_search_count.c ---- */

extern bool emogi_index_search_count(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search);

#endif							/* EMOGI_INDEX_SEARCH_H */
