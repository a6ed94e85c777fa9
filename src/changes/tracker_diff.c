/*
 * tracker_diff.c: diff of the rescanned pages: the edges that each gave for the base snapshot
 * against those that it gives now
 */
#include "postgres.h"

#include "miscadmin.h"

#include "changes/changes.h"
#include "base/arena.h"

/* Number of edges that the diff looks ahead to resynchronize two lists. */
#define RESYNC_LOOKAHEAD 16

/* Minimum capacity in memory of the backend. */
#define MIN_CHANGES 64

/* Get an edge of a chunk; its weight is 0 if the edges have none. Turns -0 into 0. */
EmogiWeightedEdge
emogi_tracker_diff_edge(const void *edges, uint64 i, bool weighted)
{
	const EmogiEdge *plain = (const EmogiEdge *) edges + i;
	const EmogiWeightedEdge *edge = (const EmogiWeightedEdge *) edges + i;

	if (weighted)
		return (EmogiWeightedEdge) {edge->src, edge->dst, edge->weight + 0.0};
	return (EmogiWeightedEdge) {plain->src, plain->dst, 0.0};
}

/* Compare edges. No weight is NaN. */
static inline int
order_edges(int64 src1, int64 dst1, double weight1, int64 src2, int64 dst2, double weight2)
{
	if (src1 != src2)
		return src1 < src2 ? -1 : 1;
	if (dst1 != dst2)
		return dst1 < dst2 ? -1 : 1;
	return (weight1 > weight2) - (weight1 < weight2);
}

static int
compare_edges(const void *a, const void *b)
{
	const EmogiWeightedEdge *x = a;
	const EmogiWeightedEdge *y = b;

	return order_edges(x->src, x->dst, x->weight, y->src, y->dst, y->weight);
}

static inline int
compare_changes(const EmogiEdgeChange *x, const EmogiEdgeChange *y)
{
	return order_edges(x->src, x->dst, x->weight, y->src, y->dst, y->weight);
}

/* sort_changes(changes, count): sort in place; may be canceled. */
#define ST_SORT sort_changes
#define ST_ELEMENT_TYPE EmogiEdgeChange
#define ST_COMPARE(a, b) compare_changes(a, b)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---- a list of changes ---- */

/* Ensure that there is room for more changes. Raises 53200. */
static void
reserve(EmogiChanges *changes, uint64 count)
{
	Size		old_bytes = changes->room * sizeof(EmogiEdgeChange);
	EmogiEdgeChange *old = changes->changes;
	Size		bytes;

	if (changes->count + count <= changes->room)
		return;
	if (changes->context != NULL)
	{
		changes->room = Max(Max(2 * changes->room, changes->count + count), MIN_CHANGES);
		changes->changes = old == NULL ?
			MemoryContextAllocHuge(changes->context, changes->room * sizeof *old) :
			repalloc_huge(old, changes->room * sizeof *old);
		return;
	}
	bytes = Max((changes->count + count) * sizeof(EmogiEdgeChange), 2 * old_bytes);
	bytes = (bytes + EMOGI_EXTENT_BYTES - 1) / EMOGI_EXTENT_BYTES * EMOGI_EXTENT_BYTES;
	changes->changes = emogi_call_alloc_any(changes->call, bytes);
	changes->room = bytes / sizeof(EmogiEdgeChange);
	if (old == NULL)
		return;
	memcpy(changes->changes, old, changes->count * sizeof(EmogiEdgeChange));
	emogi_arena_free(old, old_bytes);
}

/* Append a change. There must be room. */
static inline void
append_change(EmogiChanges *changes, const EmogiWeightedEdge *edge, int64 times)
{
	changes->changes[changes->count++] =
		(EmogiEdgeChange) {edge->src, edge->dst, edge->weight, times};
}

/* Append changes. Raises 53200. */
void
emogi_tracker_diff_add(EmogiChanges *changes, const EmogiEdgeChange *more, uint64 count)
{
	reserve(changes, count);
	if (count > 0)
		memcpy(changes->changes + changes->count, more, count * sizeof(EmogiEdgeChange));
	changes->count += count;
}

/*
 * Sort the changes and cancel out opposite ones: a row that only moved to another page is no
 * change. May be canceled.
 */
void
emogi_tracker_diff_net(EmogiChanges *changes)
{
	uint64		count = 0;

	if (changes->count > 1)
		sort_changes(changes->changes, changes->count);
	for (uint64 i = 0; i < changes->count;)
	{
		EmogiEdgeChange change = changes->changes[i++];

		while (i < changes->count && compare_changes(&change, &changes->changes[i]) == 0)
			change.times += changes->changes[i++].times;
		if (change.times != 0)
			changes->changes[count++] = change;
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	changes->count = count;
}

/* ---- pages ---- */

/*
 * Count the equal edges at the start of a page, for edges of integers without weights: most pages
 * differ in a few edges only.
 */
static int
count_same_plain(const EmogiCoo *coo, uint64 place, const EmogiEdge *now, int max)
{
	int			same = 0;

	while (same < max && (uint64) now[same].src -
		   (uint64) coo->base == emogi_coo_key(coo, 2 * (place + same)) &&
		   (uint64) now[same].dst -
		   (uint64) coo->base == emogi_coo_key(coo, 2 * (place + same) + 1))
		same++;
	return same;
}

/* Count the equal edges at the start of a page. */
static int
count_same(const EmogiCoo *coo, uint64 place, const EmogiPageScan *scan, int max)
{
	bool		weighted = coo->weight_type != EMOGI_WEIGHT_NONE;
	int			same = 0;

	if (!weighted && coo->dictionary == NULL)
		return count_same_plain(coo, place, scan->edges, max);
	for (; same < max; same++)
	{
		EmogiWeightedEdge before = emogi_coo_get(coo, place + same);
		EmogiWeightedEdge now = emogi_tracker_diff_edge(scan->edges, same, weighted);

		if (compare_edges(&before, &now) != 0)
			break;
	}
	return same;
}

/* The edges that a page gave before, and those that it gives now. */
typedef struct PageEdges
{
	const EmogiCoo *coo;
	uint64		place;			/* of the edges before */
	const void *before;			/* the edges before, if they are not in the COO; NULL = in the
								 * COO */
	int			nbefore;
	const void *now;
	int			nnow;
	bool		weighted;
} PageEdges;

/* Get an edge that the page gave before. */
static inline EmogiWeightedEdge
edge_before(const PageEdges *edges, int i)
{
	return edges->before != NULL ?
		emogi_tracker_diff_edge(edges->before, i, edges->weighted) :
		emogi_coo_get(edges->coo, edges->place + i);
}

/* Return true if an edge before and an edge now are equal. */
static inline bool
is_same(const PageEdges *edges, int before, int now)
{
	EmogiWeightedEdge x = edge_before(edges, before);
	EmogiWeightedEdge y = emogi_tracker_diff_edge(edges->now, now, edges->weighted);

	return compare_edges(&x, &y) == 0;
}

/*
 * Find where the lists agree again after they differ at (before, now): after *ngone removed or
 * *ncame inserted edges. Return false if that is not within RESYNC_LOOKAHEAD edges; the two edges
 * are then one removed and one inserted.
 */
static bool
resync(const PageEdges *edges, int before, int now, int *ngone, int *ncame)
{
	*ngone = *ncame = 0;
	for (int ahead = 1; ahead <= RESYNC_LOOKAHEAD; ahead++)
	{
		if (before + ahead < edges->nbefore && now < edges->nnow &&
			is_same(edges, before + ahead, now))
		{
			*ngone = ahead;
			return true;
		}
		if (now + ahead < edges->nnow && before < edges->nbefore &&
			is_same(edges, before, now + ahead))
		{
			*ncame = ahead;
			return true;
		}
	}
	return false;
}

/* Append edges of a page as removed and others as inserted. */
static void
append_edges(EmogiChanges *changes, const PageEdges *edges, int before, int ngone, int now,
			 int ncame)
{
	reserve(changes, ngone + ncame);
	for (int i = 0; i < ngone; i++)
	{
		EmogiWeightedEdge edge = edge_before(edges, before + i);

		append_change(changes, &edge, -1);
	}
	for (int i = 0; i < ncame; i++)
	{
		EmogiWeightedEdge edge = emogi_tracker_diff_edge(edges->now, now + i, edges->weighted);

		append_change(changes, &edge, 1);
	}
}

/* Append the changes of a page whose first `same` edges are equal. */
static void
diff_edges(EmogiChanges *changes, const PageEdges *edges, int same)
{
	int			before = same;
	int			now = same;

	while (before < edges->nbefore && now < edges->nnow)
	{
		int			ngone;
		int			ncame;

		if (is_same(edges, before, now))
		{
			before++;
			now++;
			continue;
		}
		if (!resync(edges, before, now, &ngone, &ncame))
			ngone = ncame = 1;
		append_edges(changes, edges, before, ngone, now, ncame);
		before += ngone;
		now += ncame;
	}
	append_edges(changes, edges, before, edges->nbefore - before, now, edges->nnow - now);
}

/*
 * Append the changes of a page that gave the edges [place, place + nbefore) of the COO. scan: NULL
 * = it gives none now. Rows keep their order on a page, so there is little to compare. An edge
 * appended as both removed and inserted cancels out later.
 */
static void
diff_page(EmogiChanges *changes, const EmogiCoo *coo, uint64 place, int nbefore,
		  EmogiPageScan *scan)
{
	PageEdges	edges = {coo, place, NULL, nbefore, NULL, 0, coo->weight_type != EMOGI_WEIGHT_NONE};
	int			same = 0;

	if (scan != NULL)
	{
		edges.now = scan->edges;
		edges.nnow = scan->nedges;
		same = count_same(coo, place, scan, Min(nbefore, scan->nedges));
		scan->same = same == nbefore && same == scan->nedges;
	}
	diff_edges(changes, &edges, same);
}

/*
 * Append the changes of a page since an earlier scan, whose edges are given. An unchanged page
 * costs one comparison of its edges.
 */
void
emogi_tracker_diff_scans(EmogiChanges *changes, bool weighted, const void *before, int nbefore,
						 const EmogiPageScan *scan)
{
	PageEdges	edges = {NULL, 0, before, nbefore, scan->edges, scan->nedges, weighted};
	const Size	bytes = weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge);
	int			same = 0;

	while (same < Min(nbefore, scan->nedges) &&
		   memcmp((const char *) before + same * bytes, (const char *) scan->edges + same * bytes,
				  bytes) == 0)
		same++;
	diff_edges(changes, &edges, same);
}

/* Append the changes of a page since a tracker's base snapshot. */
void
emogi_tracker_diff_page(EmogiChanges *changes, const EmogiChangeTracker *tracker,
						const EmogiTrackedTable *known, BlockNumber block, EmogiPageScan *scan)
{
	const bool	was_there = known != NULL && block < known->nblocks;
	const uint64 page = was_there ? known->first + block : 0;

	diff_page(changes, &tracker->coo, was_there ? tracker->pages.place[page] : 0,
			  was_there ? tracker->pages.nedges[page] : 0, scan);
}

/* Append the edges of a table's known pages from `first` on as removed. */
static void
remove_pages(EmogiChanges *changes, const EmogiChangeTracker *tracker,
			 const EmogiTrackedTable *table, BlockNumber first)
{
	for (BlockNumber block = first; block < table->nblocks; block++)
	{
		uint64		page = table->first + block;

		diff_page(changes, &tracker->coo, tracker->pages.place[page], tracker->pages.nedges[page],
				  NULL);
		if (block % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Append the changes of a table, until there are more than max. */
static void
diff_table(EmogiChanges *changes, const EmogiChangeTracker *tracker,
		   const EmogiChangedPages *changed, uint64 max)
{
	const EmogiTrackedTable *known = changed->known;

	for (uint64 i = 0; i < changed->scans.count && changes->count <= max; i++)
	{
		emogi_tracker_diff_page(changes, tracker, known, changed->scans.blocks[i],
								&changed->scans.scans[i]);
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (known != NULL)
		remove_pages(changes, tracker, known, changed->nblocks);
}

/*
 * List the changes of all tables since the tracker's base snapshot; return false if there are more
 * than max. Raises 53200.
 */
bool
emogi_tracker_diff_pages(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages,
						 int nleaves, uint64 max, EmogiChanges *changes)
{
	bool	   *is_there = palloc0(Max(tracker->pages.nleaves, 1) * sizeof(bool));

	for (int i = 0; i < nleaves; i++)
	{
		diff_table(changes, tracker, &changed_pages[i], max);
		if (changed_pages[i].known != NULL)
			is_there[changed_pages[i].known - tracker->pages.leaves] = true;
	}
	for (int i = 0; i < tracker->pages.nleaves; i++)
		if (!is_there[i])
			remove_pages(changes, tracker, &tracker->pages.leaves[i], 0);
	pfree(is_there);
	if (changes->count > max)
		return false;
	emogi_tracker_diff_net(changes);
	return true;
}
