/*
 * tracker_diff.c: what has changed on the pages that were looked at: the edges that each gave for the base against those that it gives now.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "changes/changes.h"
#include "base/arena.h"

/* So far ahead is looked for where two lists go on alike. */
#define AHEAD 16

/* Room in memory of the process, at least. */
#define LEAST_CHANGES 64

/* Get an edge of a chunk; its weight is 0 where there are none. -0 is 0. */
EmogiWeightedEdge
emogi_tracker_diff_edge(const void *edges, uint64 i, bool weighted)
{
	const EmogiEdge *plain = (const EmogiEdge *) edges + i;
	const EmogiWeightedEdge *edge = (const EmogiWeightedEdge *) edges + i;

	if (weighted)
		return (EmogiWeightedEdge) {edge->src, edge->dst, edge->weight + 0.0};
	return (EmogiWeightedEdge) {plain->src, plain->dst, 0.0};
}

/* Order edges; there is no NaN among the weights. */
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

/* sort_changes(changes, count): in order, in place; may be canceled. */
#define ST_SORT sort_changes
#define ST_ELEMENT_TYPE EmogiEdgeChange
#define ST_COMPARE(a, b) compare_changes(a, b)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---- a list of changes ---- */

/* See to it that there is room for more changes. Raises 53200. */
static void
make_room(EmogiChanges *changes, uint64 count)
{
	Size		old_bytes = changes->room * sizeof(EmogiEdgeChange);
	EmogiEdgeChange *old = changes->changes;
	Size		bytes;

	if (changes->count + count <= changes->room)
		return;
	if (changes->context != NULL)
	{
		changes->room = Max(Max(2 * changes->room, changes->count + count), LEAST_CHANGES);
		changes->changes = old == NULL ? MemoryContextAllocHuge(changes->context, changes->room * sizeof *old) :
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

/* Append a change; there is room. */
static inline void
put_change(EmogiChanges *changes, const EmogiWeightedEdge *edge, int64 times)
{
	changes->changes[changes->count++] = (EmogiEdgeChange) {edge->src, edge->dst, edge->weight, times};
}

/* Append changes. Raises 53200. */
void
emogi_tracker_diff_add(EmogiChanges *changes, const EmogiEdgeChange *more, uint64 count)
{
	make_room(changes, count);
	if (count > 0)
		memcpy(changes->changes + changes->count, more, count * sizeof(EmogiEdgeChange));
	changes->count += count;
}

/* Cancel what cancels out: a row that has only moved to another page is no change. The rest is in order then. May be canceled. */
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

/* Count the edges at the front of a page that are as they were, where edges have no weights: most pages are the same but for a few. */
static int
count_same_plain(const EmogiCoo *coo, uint64 place, const EmogiEdge *now, int most)
{
	int			same = 0;

	while (same < most && (uint64) now[same].src - (uint64) coo->base == emogi_coo_key(coo, 2 * (place + same)) &&
		   (uint64) now[same].dst - (uint64) coo->base == emogi_coo_key(coo, 2 * (place + same) + 1))
		same++;
	return same;
}

/* Count the edges at the front of a page that are as they were. */
static int
count_same(const EmogiCoo *coo, uint64 place, const EmogiPageScan *look, int most)
{
	bool		weighted = coo->weight_type != EMOGI_WEIGHT_NONE;
	int			same = 0;

	if (!weighted)
		return count_same_plain(coo, place, look->edges, most);
	for (; same < most; same++)
	{
		EmogiWeightedEdge before = emogi_coo_get(coo, place + same);
		EmogiWeightedEdge now = emogi_tracker_diff_edge(look->edges, same, weighted);

		if (compare_edges(&before, &now) != 0)
			break;
	}
	return same;
}

/* The edges that a page gave, and those that it gives now. */
typedef struct PageEdges
{
	const EmogiCoo *coo;
	uint64		place;			/* of those before */
	const void *before;			/* those before, where they are not in the COO; NULL = they are */
	int			nbefore;
	const void *now;
	int			nnow;
	bool		weighted;
} PageEdges;

/* Get an edge that the page gave. */
static inline EmogiWeightedEdge
edge_before(const PageEdges *edges, int i)
{
	return edges->before != NULL ? emogi_tracker_diff_edge(edges->before, i, edges->weighted) : emogi_coo_get(edges->coo, edges->place + i);
}

/* Is an edge that the page gave one that it gives now? */
static inline bool
is_same(const PageEdges *edges, int before, int now)
{
	EmogiWeightedEdge x = edge_before(edges, before);
	EmogiWeightedEdge y = emogi_tracker_diff_edge(edges->now, now, edges->weighted);

	return compare_edges(&x, &y) == 0;
}

/*
 * Find where the lists go on alike, that differ at (before, now): after *ngone edges that are gone, or after *ncame that have come.
 * False when that is not near: then each is one of both.
 */
static bool
find_way_on(const PageEdges *edges, int before, int now, int *ngone, int *ncame)
{
	*ngone = *ncame = 0;
	for (int ahead = 1; ahead <= AHEAD; ahead++)
	{
		if (before + ahead < edges->nbefore && now < edges->nnow && is_same(edges, before + ahead, now))
		{
			*ngone = ahead;
			return true;
		}
		if (now + ahead < edges->nnow && before < edges->nbefore && is_same(edges, before, now + ahead))
		{
			*ncame = ahead;
			return true;
		}
	}
	return false;
}

/* Append edges of a page as gone, and others as come. */
static void
put_edges(EmogiChanges *changes, const PageEdges *edges, int before, int ngone, int now, int ncame)
{
	make_room(changes, ngone + ncame);
	for (int i = 0; i < ngone; i++)
	{
		EmogiWeightedEdge edge = edge_before(edges, before + i);

		put_change(changes, &edge, -1);
	}
	for (int i = 0; i < ncame; i++)
	{
		EmogiWeightedEdge edge = emogi_tracker_diff_edge(edges->now, now + i, edges->weighted);

		put_change(changes, &edge, 1);
	}
}

/* Append what has changed on a page, whose first edges are the same, so many. */
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
		if (!find_way_on(edges, before, now, &ngone, &ncame))
			ngone = ncame = 1;
		put_edges(changes, edges, before, ngone, now, ncame);
		before += ngone;
		now += ncame;
	}
	put_edges(changes, edges, before, edges->nbefore - before, now, edges->nnow - now);
}

/*
 * Append what has changed on a page that gave the edges at [place, place + nbefore) of the COO. look: NULL = it gives none now. Rows
 * keep their order on a page, so that there is little to compare; what is put as gone and as come, too, cancels out later.
 */
static void
diff_page(EmogiChanges *changes, const EmogiCoo *coo, uint64 place, int nbefore, EmogiPageScan *look)
{
	PageEdges	edges = {coo, place, NULL, nbefore, NULL, 0, coo->weight_type != EMOGI_WEIGHT_NONE};
	int			same = 0;

	if (look != NULL)
	{
		edges.now = look->edges;
		edges.nnow = look->nedges;
		same = count_same(coo, place, look, Min(nbefore, look->nedges));
		look->same = same == nbefore && same == look->nedges;
	}
	diff_edges(changes, &edges, same);
}

/*
 * Append what has changed on a page since another look, whose edges these are. A page that is as it was costs the comparison.
 */
void
emogi_tracker_diff_looks(EmogiChanges *changes, bool weighted, const void *before, int nbefore, const EmogiPageScan *look)
{
	PageEdges	edges = {NULL, 0, before, nbefore, look->edges, look->nedges, weighted};
	const Size	bytes = weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge);
	int			same = 0;

	while (same < Min(nbefore, look->nedges) && memcmp((const char *) before + same * bytes, (const char *) look->edges + same * bytes, bytes) == 0)
		same++;
	diff_edges(changes, &edges, same);
}

/* Append what has changed on a page since a state's base. */
void
emogi_tracker_diff_look(EmogiChanges *changes, const EmogiChangeTracker *state, const EmogiTrackedTable *known, BlockNumber block, EmogiPageScan *look)
{
	const bool	was_there = known != NULL && block < known->nblocks;
	const uint64 page = was_there ? known->first + block : 0;

	diff_page(changes, &state->coo, was_there ? state->pages.place[page] : 0, was_there ? state->pages.nedges[page] : 0, look);
}

/* Append the edges of a leaf's known pages [first, end) as gone. */
static void
remove_pages(EmogiChanges *changes, const EmogiChangeTracker *state, const EmogiTrackedTable *leaf, BlockNumber first)
{
	for (BlockNumber block = first; block < leaf->nblocks; block++)
	{
		uint64		page = leaf->first + block;

		diff_page(changes, &state->coo, state->pages.place[page], state->pages.nedges[page], NULL);
		if (block % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Append what has changed in a leaf, until there are more than `most` changes. */
static void
diff_leaf(EmogiChanges *changes, const EmogiChangeTracker *state, const EmogiChangedPages *discovery, uint64 most)
{
	const EmogiTrackedTable *known = discovery->known;

	for (uint64 i = 0; i < discovery->looks.count && changes->count <= most; i++)
	{
		emogi_tracker_diff_look(changes, state, known, discovery->looks.blocks[i], &discovery->looks.looks[i]);
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (known != NULL)
		remove_pages(changes, state, known, discovery->nblocks);
}

/* List what has changed on all leaves since the state's base; false when that is more than `most`. Raises 53200. */
bool
emogi_tracker_diff_pages(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, uint64 most, EmogiChanges *changes)
{
	bool	   *is_there = palloc0(Max(state->pages.nleaves, 1) * sizeof(bool));

	for (int i = 0; i < nleaves; i++)
	{
		diff_leaf(changes, state, &discoveries[i], most);
		if (discoveries[i].known != NULL)
			is_there[discoveries[i].known - state->pages.leaves] = true;
	}
	for (int i = 0; i < state->pages.nleaves; i++)
		if (!is_there[i])
			remove_pages(changes, state, &state->pages.leaves[i], 0);
	pfree(is_there);
	if (changes->count > most)
		return false;
	emogi_tracker_diff_net(changes);
	return true;
}
