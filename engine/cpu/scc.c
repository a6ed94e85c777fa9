/*
 * scc.c: strongly connected components.
 *
 * Fills component[nvertices]: the smallest vertex number of the component.
 *
 * Most graphs have one giant component: the vertices that are reachable from, and reach, a vertex
 * of high in- and out-degree. It is found by two searches with all threads [1]. The rest is found
 * by one depth-first search [2], which skips finished vertices.
 *
 * [1] L. Fleischer, B. Hendrickson, A. Pinar. On Identifying Strongly Connected Components in
 *     Parallel. IPDPS Workshops 2000.
 * [2] R. Tarjan. Depth-First Search and Linear Graph Algorithms. SIAM J. Computing 1(2), 1972; with
 *     one number a vertex as in D. Pearce. A Space-Efficient Algorithm for Finding Strongly
 *     Connected Components. Information Processing Letters 116(1), 2016.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#define SMALL_GRAPH 65536		/* one thread finishes a graph with fewer vertices + edges faster */
#define DONE UINT32_MAX	/* low of a vertex whose component is known; 0 = not visited yet */

/* A vertex whose list is being traversed. */
typedef struct Frame
{
	uint32_t	vertex;
	uint32_t	number;			/* in the order of visits, from 1 */
	uint64_t	next;			/* next edge */
} Frame;

typedef struct Components
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	uint32_t   *component;		/* [nvertices] */
	uint32_t   *low;			/* [nvertices]: the smallest number known to be reachable, or
								 * DONE */
	Frame	   *frames;			/* [nvertices] */
	uint32_t   *stack;			/* [nvertices]: visited and left, but not done */
	uint64_t	height;
	uint32_t	number;
	uint64_t	nscanned;
} Components;

/* ---- the giant component ---- */

/* Find the vertex with the maximum in-degree * out-degree. */
static uint32_t
find_pivot(const EmogiGraph *graph)
{
	uint32_t	pivot = 0;
	double		max = -1.0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const double in = (double) (graph->backward.offsets[v + 1] - graph->backward.offsets[v]);
		const double out = (double) (graph->forward.offsets[v + 1] - graph->forward.offsets[v]);

		if (in * out > max)
		{
			max = in * out;
			pivot = (uint32_t) v;
		}
	}
	return pivot;
}

/* Find the vertices reachable from a vertex, or, if backwards, those that reach it. */
static bool
search(Components *components, uint32_t source, bool backwards, int32_t *level)
{
	EmogiGraph	graph = *components->graph;
	EmogiQuery	query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source,
		.max_depth = -1};
	EmogiResult result = {.columns = {{.int32 = level}}};
	EmogiStatus status;

	if (backwards)
	{
		graph.forward = components->graph->backward;
		graph.backward = components->graph->forward;
	}
	status = emogi_cpu_bfs(components->run.pool, &graph, &query, &result,
						   components->run.job.control, components->run.error);
	components->nscanned += result.edges_traversed;
	if (status != EMOGI_OK)
		emogi_job_fail(&components->run.job, status);
	return status == EMOGI_OK;
}

/* Set the component of the vertices reached in both directions. */
static void
set_giant(Components *components, const int32_t *to, const int32_t *from)
{
	uint32_t	smallest = EMOGI_NO_VERTEX;

	for (uint64_t v = 0; v < components->graph->nvertices; v++)
	{
		if (to[v] < 0 || from[v] < 0)
			continue;
		if (smallest == EMOGI_NO_VERTEX)
			smallest = (uint32_t) v;
		components->component[v] = smallest;
		components->low[v] = DONE;
	}
}

/* Find the component of the pivot; false if the job has stopped. */
static bool
find_giant(Components *components)
{
	const uint64_t n = components->graph->nvertices;
	int32_t    *levels = emogi_cpu_run_scratch(&components->run, 2 * n, sizeof *levels);
	uint32_t	pivot = find_pivot(components->graph);

	if (levels == NULL || !search(components, pivot, false, levels) ||
		!search(components, pivot, true, levels + n))
		return false;
	set_giant(components, levels, levels + n);
	return true;
}

/* ---- the other components ---- */

/* Begin to traverse the list of an unvisited vertex. Returns the new depth. */
static uint64_t
enter(Components *components, uint32_t v, uint64_t depth)
{
	const uint64_t *offsets = components->graph->forward.offsets;

	components->low[v] = ++components->number;
	components->nscanned += offsets[v + 1] - offsets[v];
	components->frames[depth] = (Frame) {v, components->number, offsets[v]};
	return depth + 1;
}

/*
 * Continue to traverse a list up to the first unvisited vertex; returns that, or EMOGI_NO_VERTEX at
 * the end.
 */
static inline uint32_t
advance(Components *components, Frame *frame)
{
	const EmogiAdjacency *lists = &components->graph->forward;
	const uint64_t end = lists->offsets[frame->vertex + 1];
	uint32_t	low = components->low[frame->vertex];
	uint32_t	found = EMOGI_NO_VERTEX;

	while (frame->next < end && found == EMOGI_NO_VERTEX)
	{
		const uint32_t w = lists->targets[frame->next++];
		const uint32_t number = components->low[w];

		if (number == 0)
			found = w;
		else if (number < low)
			low = number;
	}
	components->low[frame->vertex] = low;
	return found;
}

/* Set the component of all vertices on the stack since the root of a component. */
static void
set_component(Components *components, const Frame *frame)
{
	uint64_t	first = components->height;
	uint32_t	smallest = frame->vertex;

	while (first > 0 && components->low[components->stack[first - 1]] >= frame->number)
	{
		first--;
		if (components->stack[first] < smallest)
			smallest = components->stack[first];
	}
	for (uint64_t i = first; i < components->height; i++)
	{
		components->component[components->stack[i]] = smallest;
		components->low[components->stack[i]] = DONE;
	}
	components->height = first;
	components->component[frame->vertex] = smallest;
	components->low[frame->vertex] = DONE;
}

/* Leave a vertex whose list is at its end. */
static void
leave(Components *components, uint64_t depth)
{
	const Frame *frame = &components->frames[depth];
	const uint32_t low = components->low[frame->vertex];

	if (low == frame->number)
	{
		set_component(components, frame);
		return;
	}
	components->stack[components->height++] = frame->vertex;
	if (low < components->low[components->frames[depth - 1].vertex])
		components->low[components->frames[depth - 1].vertex] = low;
}

/* Find the components of all vertices reachable from a vertex. */
static void
depth_first_search(Components *components, uint32_t root)
{
	uint64_t	depth = enter(components, root, 0);
	uint64_t	polled = components->nscanned;

	while (depth > 0)
	{
		const uint32_t found = advance(components, &components->frames[depth - 1]);

		if (found != EMOGI_NO_VERTEX)
			depth = enter(components, found, depth);
		else
			leave(components, --depth);
		if (components->nscanned - polled > EMOGI_RUN_POLL)
		{
			polled = components->nscanned;
			if (emogi_job_stopped(&components->run.job))
				return;
		}
	}
}

/* Find the components of all vertices that are not done. */
static void
find_others(Components *components)
{
	uint64_t	polled = components->nscanned;

	for (uint64_t v = 0; v < components->graph->nvertices; v++)
	{
		if (components->low[v] != 0)
			continue;
		depth_first_search(components, (uint32_t) v);
		if (components->nscanned - polled > EMOGI_RUN_POLL)
		{
			polled = components->nscanned;
			if (emogi_job_stopped(&components->run.job))
				return;
		}
	}
}

/* Allocate the scratch memory; false if out of memory. */
static bool
allocate_scratch(Components *components)
{
	const uint64_t n = components->graph->nvertices;

	components->low = emogi_cpu_run_scratch(&components->run, 2 * n, sizeof *components->low);
	components->frames = components->low == NULL ? NULL
		: emogi_cpu_run_scratch(&components->run, n, sizeof *components->frames);
	if (components->frames == NULL)
		return false;
	components->stack = components->low + n;
	return true;
}

EmogiStatus
emogi_cpu_scc(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Components	components = {.graph = graph, .component = result->columns[0].vertex};
	const bool	has_giant = graph->nvertices + graph->forward.nedges >= SMALL_GRAPH;

	emogi_cpu_run_begin(&components.run, pool, graph, 0, result, control, error,
						"strongly connected components");
	if (allocate_scratch(&components) && (!has_giant || find_giant(&components)))
	{
		find_others(&components);
		result->nreached = graph->nvertices;
		result->nlevels = 1;
	}
	result->edges_traversed = components.nscanned;
	return emogi_cpu_run_end(&components.run);
}
