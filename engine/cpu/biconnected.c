/*
 * biconnected.c: bridges, articulation points and biconnected components of an undirected graph.
 *
 * Fills other[nvertices], the other end of the bridge that leads from a vertex towards the smallest
 * vertex of its component, EMOGI_NO_VERTEX if there is none; components[nvertices], the number of
 * blocks that an articulation point is in, 0 for other vertices; or component[nvertices] and
 * parent[nvertices], as contract/biconnected.h says.
 *
 * Method [1], with the trees of [2], which are built by breadth-first search from the smallest
 * vertex of each component (spanning_bfs.h). Vertices are numbered in preorder, so that the subtree
 * of a vertex has consecutive numbers that begin with its own. low and high are the smallest and
 * the largest number at the ends of edges of a vertex's subtree, except the edge to its parent. If
 * both are numbers in the subtree, the edge to the parent is a bridge; if both are numbers in the
 * parent's subtree, the edge to the parent is a fence [1]: nothing leads past the parent. The
 * vertices connected by tree edges that are not fences and by non-tree edges form a block, together
 * with the parent of their topmost vertex: in a breadth-first tree, no other edge connects a vertex
 * with an ancestor. The graph of those edges is not materialized: they are selected while the
 * adjacency lists are scanned, and the components are found as in cc.c.
 *
 * The result depends only on the trees, and these do not depend on the order of the work, although
 * the numbers do.
 *
 * [1] X. Dong, L. Wang, Y. Gu, Y. Sun. Provably Fast and Space-Efficient Parallel Biconnectivity.
 *     PPoPP 2023. Section 4.
 * [2] R. E. Tarjan, U. Vishkin. An Efficient Parallel Biconnectivity Algorithm. SIAM Journal on
 *     Computing 14(4), 1985.
 */
#include "cpu_algorithms.h"
#include "cpu/union_find.h"
#include "cpu/spanning_bfs.h"

#define VERTEX_CHUNK 1024

typedef struct Blocks
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	EmogiSpanningBfs spanning;
	uint32_t   *parent;			/* [nvertices], that of the spanning forest */
	uint32_t   *first;			/* [nvertices], the preorder number of a vertex */
	uint32_t   *size;			/* [nvertices], atomic: size of a vertex's subtree */
	uint32_t   *low;			/* [nvertices], atomic; before that the next number to assign in
								 * a vertex's subtree */
	uint32_t   *high;			/* [nvertices], atomic */
	uint32_t   *label;			/* [nvertices], union-find (union_find.h): block without its top;
								 * shares memory with `level` */
	uint32_t   *top;			/* [nvertices], atomic: by block, the parent of the topmost
								 * vertex; shares memory with `low` */
	uint32_t   *second;			/* [nvertices], atomic: by block, its second vertex,
								 * EMOGI_NO_VERTEX = none; shares memory with `high` */
	uint32_t   *number;			/* [nvertices], number of the block; shares memory with `first` */
	uint32_t   *next;			/* [nvertices], blocks with this smallest vertex, and the next
								 * number of these; shares memory with `size` */
	uint32_t	given;			/* atomic: numbers assigned to trees */
	uint32_t	giant;			/* vertices with this label are skipped */
	uint64_t	nscanned;		/* atomic: edges examined */
} Blocks;

/* Take a chunk of vertices; false if none is left or the job has stopped. */
static inline bool
take_chunk(Blocks *blocks, uint64_t *v, uint64_t *end)
{
	return emogi_cpu_run_take(&blocks->run, VERTEX_CHUNK, blocks->graph->nvertices, v, end);
}

/* Run a statement for each vertex v of the chunks that a thread takes. */
#define FOR_EACH_VERTEX(blocks, v) \
	for (uint64_t v = 0, end = 0; take_chunk(blocks, &v, &end);) \
		for (; v < end; v++)

/* Count edges about to be examined; false if the job has stopped, which is polled at intervals. */
static inline bool
count_scanned(Blocks *blocks, uint64_t *nscanned, uint64_t more)
{
	const uint64_t before = *nscanned;

	*nscanned += more;
	return before / EMOGI_RUN_POLL == *nscanned / EMOGI_RUN_POLL ||
		!emogi_job_stopped(&blocks->run.job);
}

/* ---- trees and numbers ---- */

/* Search the components from their smallest vertices; false if the job has stopped. */
static bool
grow_trees(Blocks *blocks, EmogiPool *pool, const EmogiQuery *query, EmogiControl *control)
{
	const EmogiQuery components = {.algorithm = EMOGI_CC, .placement = query->placement};
	EmogiResult result = {.columns[0].vertex = blocks->low};
	const EmogiStatus status = emogi_cpu_cc(pool, blocks->graph, &components, &result, control,
											blocks->run.error);

	emogi_job_phase(&blocks->run.job, EMOGI_PHASE_RUN, 3 * blocks->graph->nvertices);
	if (status != EMOGI_OK)
		emogi_job_fail(&blocks->run.job, status);
	blocks->spanning.component = blocks->low;
	return emogi_spanning_bfs_build(&blocks->spanning);
}

/* Set the size of every subtree to 1. */
static void
begin_sizes(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
		blocks->size[v] = 1;
}

/* Add the size of a vertex's subtree to its parent's. */
static void
add_size(void *arg, uint32_t v)
{
	Blocks	   *blocks = arg;

	if (blocks->parent[v] != EMOGI_NO_VERTEX)
		__atomic_fetch_add(&blocks->size[blocks->parent[v]], blocks->size[v], __ATOMIC_RELAXED);
}

/* Assign a vertex its number, and reserve the following ones for its subtree. */
static void
assign_number(void *arg, uint32_t v)
{
	Blocks	   *blocks = arg;
	uint32_t   *next = blocks->parent[v] != EMOGI_NO_VERTEX ? &blocks->low[blocks->parent[v]]
		: &blocks->given;

	blocks->first[v] = __atomic_fetch_add(next, blocks->size[v], __ATOMIC_RELAXED);
	blocks->low[v] = blocks->first[v] + 1;
}

/*
 * Find the smallest and the largest number in a list, without one edge to the parent; false if the
 * job has stopped.
 */
static inline bool
scan_list(Blocks *blocks, uint64_t v, uint64_t *nscanned)
{
	const EmogiAdjacency *lists = &blocks->graph->forward;
	const uint32_t parent = blocks->parent[v];
	uint32_t	low = blocks->first[v];
	uint32_t	high = low;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1];)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(e, EMOGI_RUN_POLL, lists->offsets[v + 1]);

		if (!count_scanned(blocks, nscanned, end - e))
			return false;
		for (; e < end; e++)
		{
			const uint32_t w = lists->targets[e];
			const uint32_t number = blocks->first[w];

			if (w == parent && (e == lists->offsets[v] || lists->targets[e - 1] != w))
				continue;
			low = number < low ? number : low;
			high = number > high ? number : high;
		}
	}
	blocks->low[v] = low;
	blocks->high[v] = high;
	return true;
}

/* Find the smallest and the largest number in each list. */
static void
scan_lists(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	uint64_t	nscanned = 0;

	for (uint64_t v, end; take_chunk(blocks, &v, &end);)
	{
		emogi_job_done(&blocks->run.job, end - v);
		for (; v < end; v++)
			if (!scan_list(blocks, v, &nscanned))
				return;
	}
	emogi_job_claim(&blocks->nscanned, nscanned);
}

/* Propagate low and high to the parent of a vertex. */
static void
propagate(void *arg, uint32_t v)
{
	Blocks	   *blocks = arg;

	if (blocks->parent[v] == EMOGI_NO_VERTEX)
		return;
	emogi_spanning_bfs_lower(&blocks->low[blocks->parent[v]], blocks->low[v]);
	emogi_spanning_bfs_raise(&blocks->high[blocks->parent[v]], blocks->high[v]);
}

/* Compute low and high; false if the job has stopped. */
static bool
find_reach(Blocks *blocks)
{
	return emogi_cpu_run_step(&blocks->run, begin_sizes, blocks, false) &&
		emogi_spanning_bfs_up(&blocks->spanning, add_size, blocks) &&
		emogi_spanning_bfs_down(&blocks->spanning, assign_number, blocks) &&
		emogi_cpu_run_step(&blocks->run, scan_lists, blocks, false) &&
		emogi_spanning_bfs_up(&blocks->spanning, propagate, blocks);
}

/*
 * Check whether all edges out of v's subtree, except the one to v's parent, stay in the subtree of
 * `above`, which is v itself or its parent.
 */
static inline bool
stays_below(const Blocks *blocks, uint64_t v, uint64_t above)
{
	return blocks->low[v] >= blocks->first[above] &&
		blocks->high[v] - blocks->first[above] < blocks->size[above];
}

/* ---- bridges ---- */

/* Keep only the parents of vertices connected to them by a bridge. */
static void
keep_bridges(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
		if (!stays_below(blocks, v, v))
			blocks->parent[v] = EMOGI_NO_VERTEX;
}

/* ---- blocks ---- */

/* Make every vertex a block. */
static void
begin_labels(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
		blocks->label[v] = (uint32_t) v;
}

/* Join the ends of a non-tree edge. */
static inline void
join_across(Blocks *blocks, uint32_t v, uint32_t w)
{
	if (w != v && w != blocks->parent[v] && v != blocks->parent[w])
		emogi_union_find_join(blocks->label, v, w);
}

/*
 * Join each vertex with its parent, unless the edge between them is a fence, and with its first and
 * last neighbor.
 */
static void
join_sample(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	const EmogiAdjacency *lists = &blocks->graph->forward;

	FOR_EACH_VERTEX(blocks, v)
	{
		if (blocks->parent[v] == EMOGI_NO_VERTEX)
			continue;
		if (!stays_below(blocks, v, blocks->parent[v]))
			emogi_union_find_join(blocks->label, (uint32_t) v, blocks->parent[v]);
		join_across(blocks, (uint32_t) v, lists->targets[lists->offsets[v]]);
		join_across(blocks, (uint32_t) v, lists->targets[lists->offsets[v + 1] - 1]);
	}
}

/* Replace all parents by their roots. */
static void
compress_labels(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
		emogi_union_find_compress(blocks->label, (uint32_t) v);
}

/*
 * Join all vertices outside the giant block with their neighbors. Edges between the giant and other
 * vertices are found from outside.
 */
static void
join_rest(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	const EmogiAdjacency *lists = &blocks->graph->forward;
	uint64_t	nscanned = 0;

	for (uint64_t v, end; take_chunk(blocks, &v, &end);)
	{
		emogi_job_done(&blocks->run.job, end - v);
		for (; v < end; v++)
		{
			if (emogi_union_find_read(blocks->label, (uint32_t) v) == blocks->giant)
				continue;
			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1];)
			{
				const uint64_t stop = emogi_cpu_run_chunk_end(e, EMOGI_RUN_POLL,
															  lists->offsets[v + 1]);

				if (!count_scanned(blocks, &nscanned, stop - e))
					return;
				for (; e < stop; e++)
					join_across(blocks, (uint32_t) v, lists->targets[e]);
			}
		}
	}
	emogi_job_claim(&blocks->nscanned, nscanned);
}

/* Initialize the top and second vertex of each block. */
static void
begin_tops(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
	{
		blocks->top[v] = blocks->second[v] = EMOGI_NO_VERTEX;
		blocks->next[v] = 0;
	}
}

/* Find the top of each block, and the second of its other vertices; the first is its label. */
static void
find_tops(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;

	FOR_EACH_VERTEX(blocks, v)
	{
		const uint32_t label = blocks->label[v];

		if (blocks->parent[v] == EMOGI_NO_VERTEX)
			continue;
		if (blocks->label[blocks->parent[v]] != label)
			__atomic_store_n(&blocks->top[label], blocks->parent[v], __ATOMIC_RELAXED);
		if (label != v)
			emogi_spanning_bfs_lower(&blocks->second[label], (uint32_t) v);
	}
}

/*
 * Find the blocks: the label of each vertex that has a parent, and the top and second vertex of
 * each block; false if the job has stopped.
 */
static bool
find_blocks(Blocks *blocks)
{
	EmogiCpuRun *run = &blocks->run;

	blocks->label = blocks->spanning.level;
	if (!emogi_cpu_run_step(run, begin_labels, blocks, false) ||
		!emogi_cpu_run_step(run, join_sample, blocks, false) ||
		!emogi_cpu_run_step(run, compress_labels, blocks, false))
		return false;
	blocks->giant = blocks->graph->nvertices > 0
		? emogi_union_find_giant(blocks->label, blocks->graph->nvertices) : EMOGI_NO_VERTEX;
	if (!emogi_cpu_run_step(run, join_rest, blocks, false) ||
		!emogi_cpu_run_step(run, compress_labels, blocks, false))
		return false;
	blocks->top = blocks->low;
	blocks->second = blocks->high;
	blocks->number = blocks->first;
	blocks->next = blocks->size;
	return emogi_cpu_run_step(run, begin_tops, blocks, false) &&
		emogi_cpu_run_step(run, find_tops, blocks, false);
}

/* Check whether v is the label of a block. */
static inline bool
is_block(const Blocks *blocks, uint64_t v)
{
	return blocks->label[v] == v && blocks->parent[v] != EMOGI_NO_VERTEX;
}

/* ---- articulation points ---- */

/* Count, for each vertex, the block of the edge to its parent. */
static void
count_above(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	int64_t    *components = blocks->run.result->columns[0].int64;

	FOR_EACH_VERTEX(blocks, v)
		components[v] = blocks->parent[v] != EMOGI_NO_VERTEX;
}

/* Count each block for its top. */
static void
count_tops(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	int64_t    *components = blocks->run.result->columns[0].int64;

	FOR_EACH_VERTEX(blocks, v)
		if (is_block(blocks, v))
			__atomic_fetch_add(&components[blocks->top[v]], 1, __ATOMIC_RELAXED);
}

/* Set the count of vertices that are in only one block to 0. */
static void
drop_others(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	int64_t    *components = blocks->run.result->columns[0].int64;

	FOR_EACH_VERTEX(blocks, v)
		components[v] = components[v] < 2 ? 0 : components[v];
}

/* ---- numbers of blocks ---- */

/*
 * Get the second-smallest vertex of a block, and whether its smallest vertex is its label. Among
 * several blocks with the same smallest vertex, those of which it is the top have their label as
 * the second vertex, and at most one has it as its label.
 */
static inline uint32_t
second_of(const Blocks *blocks, uint32_t label, bool *is_label)
{
	*is_label = label < blocks->top[label];
	if (!*is_label)
		return label;
	return blocks->top[label] < blocks->second[label] ? blocks->top[label] : blocks->second[label];
}

/* Check at intervals whether the job has stopped. */
static inline bool
may_continue(Blocks *blocks, uint64_t v)
{
	return v % EMOGI_RUN_POLL != 0 || !emogi_job_stopped(&blocks->run.job);
}

/*
 * Assign number ranges to blocks in the order of their smallest vertices; false if the job has
 * stopped.
 */
static bool
add_up_blocks(Blocks *blocks)
{
	uint32_t	number = 0;
	bool		is_label;

	for (uint64_t v = 0; v < blocks->graph->nvertices; v++)
	{
		if (!may_continue(blocks, v))
			return false;
		if (!is_block(blocks, v))
			continue;
		second_of(blocks, (uint32_t) v, &is_label);
		blocks->next[is_label ? v : blocks->top[v]]++;
	}
	for (uint64_t v = 0; v < blocks->graph->nvertices; v++)
	{
		const uint32_t count = blocks->next[v];

		if (!may_continue(blocks, v))
			return false;
		blocks->next[v] = blocks->number[v] = number;
		number += count;
	}
	return true;
}

/*
 * Number the blocks with the same smallest vertex: those of which it is the top in the order of
 * labels, with the other one in its place between them.
 */
static void
number_blocks(Blocks *blocks)
{
	for (uint64_t v = 0; v < blocks->graph->nvertices; v++)
	{
		const uint32_t top = is_block(blocks, v) ? blocks->top[v] : EMOGI_NO_VERTEX;
		bool		is_label;
		uint32_t	second;

		if (!may_continue(blocks, v))
			return;
		if (top == EMOGI_NO_VERTEX || v < top)
			continue;
		blocks->number[v] = blocks->next[top]++;
		if (!is_block(blocks, top))
			continue;
		second = second_of(blocks, top, &is_label);
		if (is_label && second < v)
			blocks->number[v]++;
		else if (is_label)
			blocks->number[top]++;
	}
}

/* Write the number of each vertex's block. */
static void
write_numbers(void *arg, int thread, int nthreads)
{
	Blocks	   *blocks = arg;
	int64_t    *component = blocks->run.result->columns[0].int64;

	FOR_EACH_VERTEX(blocks, v)
		component[v] = blocks->parent[v] == EMOGI_NO_VERTEX ? -1
			: (int64_t) blocks->number[blocks->label[v]];
}

/* ---- entry point ---- */

/* Allocate the scratch memory that no result column provides; false if out of memory. */
static bool
open_blocks(Blocks *blocks, EmogiAnswerShape shape)
{
	const uint64_t n = blocks->graph->nvertices;
	EmogiCpuRun *run = &blocks->run;

	if (shape == EMOGI_SHAPE_VERTICES)
		blocks->parent = emogi_cpu_run_scratch(run, n, sizeof *blocks->parent);
	else
		blocks->parent = run->result->columns[shape == EMOGI_SHAPE_EDGES ? 0 : 1].vertex;
	blocks->first = emogi_cpu_run_scratch(run, n, sizeof *blocks->first);
	blocks->size = emogi_cpu_run_scratch(run, n, sizeof *blocks->size);
	blocks->low = emogi_cpu_run_scratch(run, n, sizeof *blocks->low);
	blocks->high = emogi_cpu_run_scratch(run, n, sizeof *blocks->high);
	blocks->spanning = (EmogiSpanningBfs) {.run = run, .lists = &blocks->graph->forward,
		.nvertices = n, .parent = blocks->parent};
	return !emogi_job_stopped(&run->job) && emogi_spanning_bfs_open(&blocks->spanning);
}

/* Fill the columns of an answer: bridges, blocks, or articulation points. */
static void
answer(Blocks *blocks, EmogiAnswerShape shape)
{
	EmogiCpuRun *run = &blocks->run;

	if (!find_reach(blocks))
		return;
	if (shape == EMOGI_SHAPE_EDGES)
		emogi_cpu_run_step(run, keep_bridges, blocks, false);
	else if (!find_blocks(blocks))
		return;
	else if (shape == EMOGI_SHAPE_VERTICES)
	{
		if (emogi_cpu_run_step(run, count_above, blocks, false) &&
			emogi_cpu_run_step(run, count_tops, blocks, false))
			emogi_cpu_run_step(run, drop_others, blocks, false);
	}
	else if (add_up_blocks(blocks))
	{
		number_blocks(blocks);
		emogi_cpu_run_step(run, write_numbers, blocks, false);
	}
}

EmogiStatus
emogi_cpu_blocks(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const EmogiAnswerShape shape = emogi_algorithm_row(query->algorithm)->shape;
	Blocks		blocks = {.graph = graph};

	emogi_cpu_run_begin(&blocks.run, pool, graph, 3 * graph->nvertices, result, control, error,
						"biconnected components");
	if (open_blocks(&blocks, shape) && grow_trees(&blocks, pool, query, control))
	{
		answer(&blocks, shape);
		result->nreached = graph->nvertices;
		result->nlevels = (uint32_t) blocks.spanning.nlevels;
		result->edges_traversed = graph->forward.nedges + blocks.nscanned;
	}
	return emogi_cpu_run_end(&blocks.run);
}
