/*
 * neighborhood_ranked.c: collect the edges of the k shortest simple paths between two vertices
 * through table indexes.
 *
 * Method. Two searches in ascending order of distance (Dijkstra), from the source along edges and
 * from the target against them, meet at a shortest path [1]. Then they continue until no path that
 * crosses an unread list can be as short as the k-th one. The length of that is not known, but
 * bounded from above by the k-th of the paths that the searches know: a shortest path to the start
 * of an edge, the edge, and a shortest path from its end [2]. Such a path counts if it is simple,
 * and at the first of its edges that yields it. The vertices of the shortest path are known from
 * both ends, so detours near one of its ends are found although the other search is far away.
 *
 * If all vertices nearer than a to the source, and nearer than b to the target, have been read,
 * an edge in no list that was read is on no path shorter than a + b. Edges without weights have
 * length 1, so then all paths shorter than a + b + 1 are known. All paths as long as the k-th are
 * collected, so a ranking that breaks ties by vertices returns the same paths as in the whole
 * graph. Distances are summed from both ends, so they differ by rounding from those of the ranking,
 * and comparisons have slack for this.
 *
 * If one of the searches lacks its index, the other one continues alone.
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 *
 * [2] Cambridge Vehicle Information Technology. Choice routing. 2005: paths via an edge.
 */
#include "postgres.h"

#include <math.h>

#include "lib/pairingheap.h"
#include "miscadmin.h"

#include "index_search/neighborhood.h"

#define NO_VERTEX PG_UINT32_MAX
/* the bound is computed again once so many edges have been collected, as a share of all */
#define BOUND_SHARE 8
/* max steps along known paths, per collected edge, that checks for cycles may take */
#define STEPS_PER_EDGE 64
#define MIN_STEPS 65536
/* max factor between sums of the same weights: each agrees with the others up to 1 +- 2^-20 */
#define ROUNDING (1 + 0x1p-18)

/* The two searches: lists that they read. */
enum
{
	FROM_SOURCE = EMOGI_EDGES_ALONG,
	FROM_TARGET = EMOGI_EDGES_AGAINST,
	NSIDES
};

/* What the searches know of a vertex. */
typedef struct Label
{
	double		distance[NSIDES];	/* from the search's origin; infinite = not reached */
	uint32		parent[NSIDES]; /* next vertex on that way; NO_VERTEX = the origin */
	uint32		neighbor[NSIDES];	/* next vertex on the shortest path, if on_path */
	bool		is_settled[NSIDES]; /* distance is final, and the list is read */
	bool		on_path;		/* on the shortest path, so both distances are known */
	uint32		marked;			/* number of the last check that met it */
	uint32		listed;			/* number of the last list that leads to it */
	double		weight;			/* minimum weight of the edges of that list to it */
} Label;

/* A vertex that was reached, perhaps not by the shortest way. */
typedef struct Reached
{
	pairingheap_node node;
	double		distance;
	uint32		vertex;
} Reached;

typedef struct Ranked
{
	EmogiCollection *collection;
	uint32		ends[NSIDES];	/* source, target */
	Label	   *labels;			/* [nlabels of room] */
	uint32		nlabels;
	uint32		room;
	pairingheap *queues[NSIDES];	/* of Reached, nearest first */
	bool		has_index[NSIDES];
	uint64		nread[NSIDES];	/* vertices and edges that each search has read */
	double		shortest;		/* length of the shortest path found; infinite = none */
	uint32		meeting;		/* a vertex on it that both searches have reached */

	/* bound of the k-th path */
	uint64		npaths;			/* k */
	double	   *lengths;		/* max-heap, [nlengths of lengths_room], the shortest known paths */
	uint64		nlengths;
	uint64		lengths_room;
	uint32		nmarks;			/* checks so far */
	uint32		nlists;			/* lists looked through so far */
	uint64		nsteps;			/* steps that checks may still take */
} Ranked;

static int
compare_distances(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	const double x = ((const Reached *) a)->distance;
	const double y = ((const Reached *) b)->distance;

	return (x < y) - (x > y);
}

/* ---- the searches ---- */

/* Get the label of a vertex, which the collection has. Labels may move. */
static Label *
label_of(Ranked *ranked, uint32 v)
{
	if (v >= ranked->room)
	{
		ranked->room = Max(ranked->collection->found->room, v + 1);
		ranked->labels = repalloc_huge(ranked->labels, ranked->room * sizeof(Label));
	}
	for (; ranked->nlabels <= v; ranked->nlabels++)
		ranked->labels[ranked->nlabels] = (Label) {
			.distance = {(double) INFINITY, (double) INFINITY},
			.parent = {NO_VERTEX, NO_VERTEX}
		};
	return &ranked->labels[v];
}

/* Reach a vertex. An infinite weight ends a path. */
static void
offer(Ranked *ranked, int side, uint32 v, uint32 parent, double distance)
{
	Label	   *label = label_of(ranked, v);
	Reached    *reached;

	if (!(distance < label->distance[side]))
		return;
	label->distance[side] = distance;
	label->parent[side] = parent;
	if (label->distance[FROM_SOURCE] + label->distance[FROM_TARGET] < ranked->shortest)
	{
		ranked->shortest = label->distance[FROM_SOURCE] + label->distance[FROM_TARGET];
		ranked->meeting = v;
	}
	reached = palloc(sizeof *reached);
	reached->vertex = v;
	reached->distance = distance;
	pairingheap_add(ranked->queues[side], &reached->node);
}

/*
 * Get a search's radius: all vertices that are nearer to its origin have been read. It is infinite
 * once there are no others, and 0 without an index.
 */
static double
radius(const Ranked *ranked, int side)
{
	if (!ranked->has_index[side])
		return 0;
	return pairingheap_is_empty(ranked->queues[side]) ? (double) INFINITY :
		((const Reached *) pairingheap_first(ranked->queues[side]))->distance;
}

/* Settle the nearest vertex of a search. No simple path continues beyond the other end. */
static void
settle(Ranked *ranked, int side)
{
	EmogiCollection *collection = ranked->collection;
	Reached    *reached = (Reached *) pairingheap_remove_first(ranked->queues[side]);
	const uint32 v = reached->vertex;
	const double distance = reached->distance;
	EmogiNeighborhoodList list;

	pfree(reached);
	if (label_of(ranked, v)->is_settled[side] || v == ranked->ends[1 - side])
		return;
	label_of(ranked, v)->is_settled[side] = true;
	list = emogi_neighborhood_read(collection, v, side);
	(void) emogi_index_readers_charge(&collection->in, 1);
	ranked->nread[side] += list.count + EMOGI_INDEX_DESCENT_COST;
	for (uint64 i = list.first; i < list.first + list.count; i++)
		offer(ranked, side, collection->found->ends[i], v,
			  distance + (collection->found->weights != NULL ? collection->found->weights[i] : 1));
}

/* ---- the bound ---- */

/* Get the distance of a vertex from the origin of a search, as far as known. */
static double
known_distance(const Ranked *ranked, int side, uint32 v)
{
	const Label *label = &ranked->labels[v];

	return label->on_path && !label->is_settled[side] ?
		ranked->shortest - label->distance[1 - side] : label->distance[side];
}

/* Get the next vertex on the known way to the origin of a search; NO_VERTEX = it is the origin. */
static uint32
known_parent(const Ranked *ranked, int side, uint32 v)
{
	const Label *label = &ranked->labels[v];

	return label->on_path && !label->is_settled[side] ? label->neighbor[side] : label->parent[side];
}

/* Mark the vertices of the shortest path, or unmark them, with their neighbors on it. */
static void
mark_path(Ranked *ranked, bool on_path)
{
	Label	   *labels = ranked->labels;

	labels[ranked->meeting].on_path = on_path;
	for (int side = 0; side < NSIDES; side++)
		for (uint32 v = ranked->meeting; v != NO_VERTEX; v = labels[v].parent[side])
		{
			const uint32 next = labels[v].parent[side];

			labels[v].neighbor[side] = next;
			if (next == NO_VERTEX)
				continue;
			labels[next].neighbor[1 - side] = v;
			labels[next].on_path = on_path;
		}
}

/* Do the known paths to the start of an edge, and from its end, have no vertex in common? */
static bool
is_simple(Ranked *ranked, uint32 from, uint32 to)
{
	ranked->nmarks++;
	for (uint32 v = from; v != NO_VERTEX; v = known_parent(ranked, FROM_SOURCE, v))
	{
		ranked->labels[v].marked = ranked->nmarks;
		ranked->nsteps -= Min(ranked->nsteps, 1);
	}
	for (uint32 v = to; v != NO_VERTEX; v = known_parent(ranked, FROM_TARGET, v))
	{
		if (ranked->labels[v].marked == ranked->nmarks)
			return false;
		ranked->nsteps -= Min(ranked->nsteps, 1);
	}
	return true;
}

static void
swap_lengths(double *a, double *b)
{
	const double before = *a;

	*a = *b;
	*b = before;
}

/* Move the first length of the heap, which may be too small for its place, down. */
static void
sift_down(double *lengths, uint64 count)
{
	for (uint64 i = 0, child = 1; child < count; i = child, child = 2 * i + 1)
	{
		if (child + 1 < count && lengths[child + 1] > lengths[child])
			child++;
		if (lengths[child] <= lengths[i])
			return;
		swap_lengths(&lengths[child], &lengths[i]);
	}
}

/* Count a path among the shortest ones. */
static void
count_path(Ranked *ranked, double length)
{
	if (ranked->nlengths == ranked->npaths)
	{
		ranked->lengths[0] = length;
		sift_down(ranked->lengths, ranked->nlengths);
		return;
	}
	if (ranked->nlengths == ranked->lengths_room)
	{
		ranked->lengths_room *= 2;
		ranked->lengths = repalloc_huge(ranked->lengths,
										ranked->lengths_room * sizeof *ranked->lengths);
	}
	ranked->lengths[ranked->nlengths] = length;
	for (uint64 i = ranked->nlengths++; i > 0 && ranked->lengths[(i - 1) / 2] < ranked->lengths[i];
		 i = (i - 1) / 2)
		swap_lengths(&ranked->lengths[(i - 1) / 2], &ranked->lengths[i]);
}

/*
 * Count the path over an edge, if there is one, and if it is simple. If the known way from the
 * start leads over the edge, the path is also that over the edge before, and counts there.
 */
static void
count_edge(Ranked *ranked, uint32 from, uint32 to, double weight)
{
	const double length = known_distance(ranked, FROM_SOURCE, from) + weight +
		known_distance(ranked, FROM_TARGET, to);

	if (!(length < (double) INFINITY) || from == to ||
		(from != ranked->ends[FROM_SOURCE] && known_parent(ranked, FROM_TARGET, from) == to) ||
		(ranked->nlengths == ranked->npaths && !(length < ranked->lengths[0])) ||
		ranked->nsteps == 0 || !is_simple(ranked, from, to))
		return;
	count_path(ranked, length);
}

/*
 * Count the paths over the edges of a list that was read; an edge in two such lists counts in that
 * of its start. Of parallel edges the shortest counts.
 */
static void
count_list(Ranked *ranked, int side, uint32 v)
{
	const EmogiNeighborhood *found = ranked->collection->found;
	const EmogiNeighborhoodList list = emogi_neighborhood_read(ranked->collection, v, side);

	ranked->nlists++;
	for (uint64 i = list.first; i < list.first + list.count; i++)
	{
		Label	   *label = &ranked->labels[found->ends[i]];
		const double weight = found->weights != NULL ? found->weights[i] : 1;

		label->weight = label->listed == ranked->nlists ? Min(label->weight, weight) : weight;
		label->listed = ranked->nlists;
	}
	for (uint64 i = list.first; i < list.first + list.count; i++)
	{
		const uint32 other = found->ends[i];
		Label	   *label = &ranked->labels[other];

		if (label->listed != ranked->nlists)
			continue;
		label->listed = 0;
		if (side == FROM_SOURCE)
			count_edge(ranked, v, other, label->weight);
		else if (!label->is_settled[FROM_SOURCE])
			count_edge(ranked, other, v, label->weight);
	}
}

/*
 * Get an upper bound of the length of the k-th path, once the shortest one is known; infinite =
 * fewer paths are known.
 */
static double
bound_length(Ranked *ranked)
{
	const uint32 n = ranked->collection->found->nvertices;
	const double slack = ranked->collection->found->weights != NULL ? ROUNDING : 1;

	(void) label_of(ranked, n - 1);
	mark_path(ranked, true);
	ranked->nlengths = 0;
	ranked->nsteps = ranked->collection->found->nends * STEPS_PER_EDGE + MIN_STEPS;
	for (uint32 v = 0; v < n; v++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int side = 0; side < NSIDES; side++)
			if (ranked->labels[v].is_settled[side])
				count_list(ranked, side, v);
	}
	mark_path(ranked, false);
	return ranked->nlengths < ranked->npaths ? (double) INFINITY : ranked->lengths[0] * slack;
}

/* ---- the collection ---- */

/* Begin two searches that have reached their origins. */
static Ranked *
begin_ranked(EmogiCollection *collection, uint32 source, uint32 target)
{
	const EmogiIndexReaders *in = &collection->in;
	const bool	is_undirected = collection->search->direction == EMOGI_BOTH;
	Ranked	   *ranked = palloc0(sizeof *ranked);

	ranked->collection = collection;
	ranked->room = ranked->lengths_room = 64;
	ranked->labels = palloc(ranked->room * sizeof *ranked->labels);
	ranked->lengths = palloc(ranked->lengths_room * sizeof *ranked->lengths);
	ranked->npaths = collection->search->npaths;
	ranked->shortest = (double) INFINITY;
	ranked->ends[FROM_SOURCE] = source;
	ranked->ends[FROM_TARGET] = target;
	ranked->has_index[FROM_SOURCE] = in->nforward > 0;
	ranked->has_index[FROM_TARGET] = in->nforward < in->nreaders || is_undirected;
	for (int side = 0; side < NSIDES; side++)
	{
		ranked->queues[side] = pairingheap_allocate(compare_distances, NULL);
		offer(ranked, side, ranked->ends[side], NO_VERTEX, 0);
	}
	return ranked;
}

/* Choose the search that continues: the one that has read less. */
static int
next_side(const Ranked *ranked)
{
	if (!ranked->has_index[FROM_SOURCE] || !ranked->has_index[FROM_TARGET])
		return ranked->has_index[FROM_SOURCE] ? FROM_SOURCE : FROM_TARGET;
	return ranked->nread[FROM_SOURCE] <= ranked->nread[FROM_TARGET] ? FROM_SOURCE : FROM_TARGET;
}

/* Continue the searches until all paths as long as the k-th are known. */
static void
run_ranked(Ranked *ranked)
{
	const EmogiCollection *collection = ranked->collection;
	const double last_edge = collection->found->weights != NULL ? 0 : 1;
	double		longest = (double) INFINITY;
	uint64		bounded = 0;	/* edges at the last computation of the bound */

	while (!collection->in.gave_up)
	{
		/* paths over an edge that was not read are no shorter */
		const double unread = radius(ranked, FROM_SOURCE) + radius(ranked, FROM_TARGET) + last_edge;
		const uint64 nends = collection->found->nends;

		CHECK_FOR_INTERRUPTS();
		if (unread > longest || isinf(unread))
			break;
		if (unread > ranked->shortest && nends > bounded + bounded / BOUND_SHARE)
		{
			bounded = nends;
			longest = Min(longest, bound_length(ranked));
			continue;
		}
		settle(ranked, next_side(ranked));
	}
}

/* Collect the edges of the npaths shortest simple paths from the source to the target. */
void
emogi_neighborhood_collect_ranked(EmogiCollection *collection)
{
	const EmogiIndexSearch *search = collection->search;
	const uint32 source = emogi_neighborhood_add(collection, search->sources[0]);
	const uint32 target = emogi_neighborhood_add(collection, search->targets[0]);
	const bool	exists = emogi_neighborhood_exists(collection, source, EMOGI_EDGES_ALONG);

	if (emogi_neighborhood_exists(collection, target, EMOGI_EDGES_AGAINST) && exists &&
		source != target)
		run_ranked(begin_ranked(collection, source, target));
}
