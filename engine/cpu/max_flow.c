/*
 * max_flow.c: maximum flow and minimum cut, from all sources together to all targets together.
 *
 * The columns are lists of edges, [nedges], in the order of the forward lists: the flow and the
 * residual capacity of an edge, and the vertices from and to which it leads, EMOGI_NO_VERTEX after
 * the last edge. An edge is listed if it or a parallel edge carries flow (MAX_FLOW_EDGES), or
 * crosses the minimum cut (MIN_CUT, flow = capacity). Parallel edges are listed together, so that
 * their positions identify them; those with flow 0 are not rows. MAX_FLOW lists no edge, and has
 * the total in flow[0].
 *
 * Capacities become whole numbers of a unit, a power of two (flow_unit.c). A capacity above an upper
 * bound of the flow counts as this bound, and those of all edges from sources add up to at most
 * 2^62 units: so all sums are exact, and flow is conserved exactly. Capacities are rounded down to
 * units, the smallest that fits, so whole capacities that add up to at most 2^62 stay exact. The
 * flow of a full edge is its capacity, not rounded.
 *
 * Method. Push-relabel [1] with the highest label first, in two phases [2]. The first finds a
 * preflow that is maximum at the targets, and so the minimum cut: the vertices that can reach a
 * target in the residual network are on its far side. They are the same for all maximum flows,
 * which makes the cut nearest to the targets unique. Labels are the distances to a target, computed
 * by breadth-first searches from the targets at first and after each 6 n + m units of relabeling
 * work [2, section 3]. If a label has no vertex left, the vertices above it cannot reach a target
 * [2, gap relabeling]. The second phase, of MAX_FLOW_EDGES only, removes cycles of flow in a
 * depth-first search against the flow, and returns the excess to the sources in topological order
 * [2, section 3]. So the flow has no cycles, and never uses both ways of an undirected edge. One
 * thread does it all, in an order that depends on the graph only.
 *
 * During a run the columns hold all that has an element per edge (residual_network.h).
 *
 * [1] A. V. Goldberg, R. E. Tarjan: A new approach to the maximum-flow problem. JACM 35(4), 1988.
 * [2] B. V. Cherkassky, A. V. Goldberg: On implementing the push-relabel method for the maximum
 *     flow problem. Algorithmica 19, 1997.
 */
#include "cpu_algorithms.h"
#include "residual_network.h"

#include <stdio.h>
#include <string.h>

#define RELABEL_WORK 12			/* work of a relabeling, beyond the arcs that it examines [2] */
#define VERTEX_WORK 6			/* work per vertex between two computations of all labels [2] */

/* Colors of the depth-first search. */
enum
{
	WHITE = 0,
	ON_PATH,
	FINISHED
};

/* ---- the network ---- */

/*
 * Set the residual capacities, and map the entries of the backward lists to those of the forward
 * lists: backward lists ascend, so traversing the forward lists in order fills each in order.
 */
static void
link_lists(Network *network)
{
	const EmogiAdjacency *out = network->out;

	for (uint64_t v = 0; v < network->graph->nvertices && !has_stopped(network); v++)
		for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
		{
			const uint32_t to = out->targets[e];
			const uint64_t b = network->in->offsets[to] + network->current[to]++;

			network->low[b] = (uint32_t) e;
			network->high[b] = (uint32_t) (e >> 32);
			network->flow[e] = 0;
			network->residual[e] = capacity_in_units(network, e);
			network->nscanned++;
		}
	memset(network->current, 0, network->graph->nvertices * sizeof *network->current);
}

/* Refuse a vertex that is a source and a target. */
static void
refuse_vertex(Network *network, uint32_t v)
{
	EmogiRefusal *refusal = &network->run.result->refusal;

	refusal->kind = EMOGI_ENDS_MEET;
	refusal->cycle[0] = v;
	snprintf(network->run.error->message, sizeof network->run.error->message,
			 "a vertex is a source and a target");
	snprintf(network->run.error->detail, sizeof network->run.error->detail, "number %u", v);
	emogi_job_fail(&network->run.job, EMOGI_BAD_INPUT);
}

/* Label the sources and targets, and check that no vertex is both. */
static bool
label_ends(Network *network)
{
	const EmogiQuery *query = network->query;

	for (uint64_t i = 0; i < query->nsources; i++)
		network->label[query->sources[i]] = (uint32_t) network->graph->nvertices + 1;
	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		if (network->label[query->targets[i]] > target_label(network))
		{
			refuse_vertex(network, query->targets[i]);
			return false;
		}
		network->label[query->targets[i]] = target_label(network);
	}
	return true;
}

/* Allocate the scratch memory, and point to the columns; false if out of memory. */
static bool
open_network(Network *network)
{
	const uint64_t n = network->graph->nvertices;
	const EmogiArray *columns = network->run.result->columns;
	uint32_t  **arrays[] = {&network->label, &network->layer, &network->next, &network->previous,
		&network->active, &network->next_active, &network->order};

	network->flow = columns[0].any;
	network->residual = columns[1].any;
	network->low = columns[2].vertex;
	network->high = columns[3].vertex;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
	{
		*arrays[i] = emogi_cpu_run_scratch(&network->run, n, sizeof **arrays[i]);
		if (*arrays[i] == NULL)
			return false;
	}
	network->excess = emogi_cpu_run_scratch(&network->run, n, sizeof *network->excess);
	if (network->excess == NULL)
		return false;
	network->current = emogi_cpu_run_scratch(&network->run, n, sizeof *network->current);
	return network->current != NULL;
}

/* ---- labels ---- */

/* Give a label to the vertices that have none and a residual arc to v; return the queue's end. */
static uint64_t
label_neighbors(Network *network, uint32_t v, uint64_t end)
{
	const uint32_t unreached = (uint32_t) network->graph->nvertices;
	const EmogiAdjacency *in = network->in;
	const EmogiAdjacency *out = network->out;

	for (uint64_t b = in->offsets[v]; b < in->offsets[v + 1]; b++)
		if (network->label[in->targets[b]] == unreached &&
			network->residual[entry_of(network, b)] > 0)
		{
			network->label[in->targets[b]] = network->label[v] + 1;
			network->order[end++] = in->targets[b];
		}
	for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
		if (network->flow[e] > 0 && network->label[out->targets[e]] == unreached)
		{
			network->label[out->targets[e]] = network->label[v] + 1;
			network->order[end++] = out->targets[e];
		}
	network->nscanned += arc_count(network, v);
	return end;
}

/* Put the vertices that can reach a target into their layers, and activate those with excess. */
static void
enter_all(Network *network)
{
	const uint64_t n = network->graph->nvertices;

	memset(network->layer, 0xFF, n * sizeof *network->layer);
	memset(network->active, 0xFF, n * sizeof *network->active);
	network->max_label = network->max_active = 0;
	for (uint64_t v = 0; v < n; v++)
	{
		network->current[v] = 0;
		if (network->label[v] == 0 || network->label[v] >= n)
			continue;
		enter_layer(network, (uint32_t) v);
		if (network->excess[v] > 0)
			activate(network, (uint32_t) v);
	}
	network->nscanned += n;
}

/* Compute all labels: the number of residual arcs to a target. */
static void
compute_labels(Network *network)
{
	const uint32_t unreached = (uint32_t) network->graph->nvertices;
	const EmogiQuery *query = network->query;
	uint64_t	end = 0;

	for (uint32_t v = 0; v < unreached; v++)
		if (network->label[v] < unreached)
			network->label[v] = unreached;
	for (uint64_t i = 0; i < query->ntargets; i++)
		if (network->label[query->targets[i]] != 0)
		{
			network->label[query->targets[i]] = 0;
			network->order[end++] = query->targets[i];
		}
	for (uint64_t i = 0; i < end && !has_stopped(network); i++)
		end = label_neighbors(network, network->order[i], end);
	enter_all(network);
	network->relabel_work = 0;
	network->run.job.control->level = ++network->run.result->nlevels;
}

/* ---- first phase ---- */

/* Move flow over a residual arc of v to its head, which becomes active unless it is a target. */
static inline void
push(Network *network, uint32_t v, const Arc *arc, int64_t amount)
{
	arc_push(network, arc, amount);
	network->excess[v] -= amount;
	if (network->excess[arc->head] == 0 && network->label[arc->head] > 0)
		activate(network, arc->head);
	network->excess[arc->head] += amount;
}

/* Fill the edges from sources to vertices that can reach a target. */
static void
fill_sources(Network *network)
{
	const EmogiQuery *query = network->query;
	const EmogiAdjacency *out = network->out;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t v = query->sources[i];

		for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
		{
			const Arc	arc = {out->targets[e], e, false};

			if (network->label[arc.head] < network->graph->nvertices && network->residual[e] > 0)
				push(network, v, &arc, network->residual[e]);
		}
	}
}

/* Push the excess of v over arcs to the next lower label; return whether excess is left. */
static bool
push_down(Network *network, uint32_t v)
{
	const uint64_t narcs = arc_count(network, v);
	uint64_t	i = network->current[v];
	const uint64_t first = i;

	for (; i < narcs; i++)
	{
		const Arc	arc = arc_at(network, v, i);
		int64_t		amount;

		if (network->label[v] != network->label[arc.head] + 1)
			continue;
		amount = arc_residual(network, &arc);
		if (amount == 0)
			continue;
		if (amount > network->excess[v])
			amount = network->excess[v];
		push(network, v, &arc, amount);
		if (network->excess[v] == 0)
			break;
	}
	network->current[v] = i;
	network->nscanned += i - first + 1;
	return network->excess[v] > 0;
}

/* Find that no vertex above an empty layer can reach a target. */
static void
cut_off(Network *network, uint32_t label)
{
	const uint32_t unreached = (uint32_t) network->graph->nvertices;

	for (uint32_t above = label + 1; above <= network->max_label; above++)
	{
		for (uint32_t v = network->layer[above]; v != NONE; v = network->next[v])
			network->label[v] = unreached;
		network->layer[above] = NONE;
	}
	network->max_label = label;
}

/* Raise the label of v to one above its lowest neighbor; return whether it can reach a target. */
static bool
relabel(Network *network, uint32_t v)
{
	const uint32_t unreached = (uint32_t) network->graph->nvertices;
	const uint32_t old = network->label[v];
	const uint64_t narcs = arc_count(network, v);
	uint32_t	lowest = unreached;

	for (uint64_t i = 0; i < narcs; i++)
	{
		const Arc	arc = arc_at(network, v, i);

		if (network->label[arc.head] < lowest && arc.head != v &&
			arc_residual(network, &arc) > 0)
		{
			lowest = network->label[arc.head];
			network->current[v] = i;
		}
	}
	network->nscanned += narcs;
	network->relabel_work += narcs + RELABEL_WORK;
	leave_layer(network, v);
	network->label[v] = unreached;
	if (network->layer[old] == NONE)
		cut_off(network, old);
	else if (lowest + 1 < unreached)
	{
		network->label[v] = lowest + 1;
		enter_layer(network, v);
	}
	return network->label[v] < unreached;
}

/* Push flow to the targets until all other vertices with excess are cut off from them. */
static void
find_preflow(Network *network)
{
	const uint64_t max_work = VERTEX_WORK * network->graph->nvertices + network->out->nedges;

	compute_labels(network);
	fill_sources(network);
	while (network->max_active > 0 && !has_stopped(network))
	{
		const uint32_t v = network->active[network->max_active];

		if (v == NONE)
		{
			network->max_active--;
			continue;
		}
		network->active[network->max_active] = network->next_active[v];
		while (push_down(network, v) && relabel(network, v) && !has_stopped(network))
			;
		if (network->relabel_work > max_work)
			compute_labels(network);
	}
	compute_labels(network);
}

/* ---- second phase ---- */

/* Depth-first search against the flow: the vertices on its path, each with its next arc. */
typedef struct Search
{
	uint32_t   *path;			/* [length]; the flow leads from path[i + 1] to path[i] */
	uint64_t	length;
	uint64_t	nfinished;		/* vertices in `order`, each behind all from which flow arrives */
} Search;

/*
 * Take the smallest flow of a cycle off it: the path from `first` on, and the flow from that vertex
 * to the last one. The search goes back to the first vertex whose flow has become 0.
 */
static void
remove_cycle(Network *network, Search *search, uint64_t first)
{
	int64_t		least = INT64_MAX;
	uint64_t	back = search->length;

	for (uint64_t i = first; i < search->length; i++)
	{
		const int64_t flow = network->flow[entry_at(network, search->path[i])];

		least = flow < least ? flow : least;
	}
	for (uint64_t i = search->length; i-- > first;)
	{
		const uint64_t e = entry_at(network, search->path[i]);

		network->flow[e] -= least;
		network->residual[e] += least;
		if (network->flow[e] == 0)
			back = i + 1;
	}
	network->nscanned += 2 * (search->length - first);
	for (uint64_t i = back; i < search->length; i++)
		network->label[search->path[i]] = WHITE;
	search->length = back;
}

/* Find the place of a vertex that is on the path. */
static uint64_t
place_on_path(Network *network, const Search *search, uint32_t v)
{
	uint64_t	i = search->length - 1;

	while (search->path[i] != v)
		i--;
	network->nscanned += search->length - i;
	return i;
}

/* Go on by one arc at the last vertex of the path. */
static void
advance(Network *network, Search *search)
{
	const uint32_t v = search->path[search->length - 1];
	const uint64_t b = network->in->offsets[v] + network->current[v];
	uint32_t	from;

	network->nscanned++;
	if (b == network->in->offsets[v + 1])
	{
		network->label[v] = FINISHED;
		network->order[search->nfinished++] = v;
		search->length--;
		return;
	}
	from = network->in->targets[b];
	if (network->flow[entry_of(network, b)] == 0 || network->label[from] == FINISHED)
		network->current[v]++;
	else if (network->label[from] == ON_PATH)
		remove_cycle(network, search, place_on_path(network, search, from));
	else
	{
		network->label[from] = ON_PATH;
		search->path[search->length++] = from;
	}
}

/* Remove all cycles of flow, and put the vertices in order; return their number. */
static uint64_t
remove_cycles(Network *network)
{
	const uint64_t n = network->graph->nvertices;
	Search		search = {.path = network->next};

	memset(network->current, 0, n * sizeof *network->current);
	memset(network->label, 0, n * sizeof *network->label);
	for (uint64_t v = 0; v < n && !has_stopped(network); v++)
	{
		if (network->label[v] != WHITE)
			continue;
		network->label[v] = ON_PATH;
		search.path[search.length++] = (uint32_t) v;
		while (search.length > 0 && !has_stopped(network))
			advance(network, &search);
	}
	return search.nfinished;
}

/* Return the excess of v against the flow that arrives there. */
static void
return_excess(Network *network, uint32_t v)
{
	const EmogiAdjacency *in = network->in;

	for (uint64_t b = in->offsets[v]; b < in->offsets[v + 1] && network->excess[v] > 0; b++)
	{
		const uint64_t e = entry_of(network, b);
		const int64_t amount = network->flow[e] < network->excess[v] ? network->flow[e] :
			network->excess[v];

		network->flow[e] -= amount;
		network->residual[e] += amount;
		network->excess[v] -= amount;
		network->excess[in->targets[b]] += amount;
		network->nscanned++;
	}
}

/* Turn the preflow into a flow without cycles. */
static void
find_flow(Network *network)
{
	uint64_t	count;

	for (uint64_t i = 0; i < network->query->ntargets; i++)
		network->excess[network->query->targets[i]] = 0;
	count = remove_cycles(network);
	while (count-- > 0 && !has_stopped(network))
		return_excess(network, network->order[count]);
}

/* ---- the lists ---- */

/* Get what the query asks for: all edges that carry flow, those of a cut, or the total. */
static inline EmogiAnswerShape
shape_of(const Network *network)
{
	return emogi_algorithm_row(network->query->algorithm)->shape;
}

/* Check whether an edge from v carries flow, or crosses the cut. */
static inline bool
is_wanted(const Network *network, uint64_t v, uint64_t e)
{
	const uint64_t n = network->graph->nvertices;

	if (shape_of(network) == EMOGI_SHAPE_FLOWS)
		return network->flow[e] > 0;
	return network->label[v] >= n && network->label[network->out->targets[e]] < n &&
		capacity_of(network, e) > 0.0;
}

/* List an edge, as element i, which no edge that follows it needs any more. */
static void
list_edge(Network *network, uint64_t i, uint64_t v, uint64_t e)
{
	const EmogiArray *columns = network->run.result->columns;
	const double capacity = capacity_of(network, e);
	/* a capacity of less than a unit carries no flow */
	const bool	is_full = shape_of(network) == EMOGI_SHAPE_CUT ||
		(network->residual[e] == 0 && network->flow[e] > 0);
	const double flow = is_full ? capacity : from_units(network, network->flow[e]);

	columns[0].float64[i] = flow;
	columns[1].float64[i] = capacity - flow;
	columns[2].vertex[i] = (uint32_t) v;
	columns[3].vertex[i] = network->out->targets[e];
}

/* List the wanted edges with their parallel edges; return their number. */
static uint64_t
list_edges(Network *network)
{
	const EmogiAdjacency *out = network->out;
	uint64_t	count = 0;
	uint64_t	end;

	for (uint64_t v = 0; v < network->graph->nvertices && !has_stopped(network); v++)
		for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e = end)
		{
			bool		wanted = false;

			for (end = e; end < out->offsets[v + 1] && out->targets[end] == out->targets[e]; end++)
				wanted |= is_wanted(network, v, end);
			network->nscanned += end - e;
			for (uint64_t i = e; wanted && i < end; i++)
				list_edge(network, count++, v, i);
		}
	return count;
}

/* Clear the elements from `first` on. */
static void
clear_columns(Network *network, uint64_t first)
{
	const EmogiArray *columns = network->run.result->columns;
	const uint64_t count = network->out->nedges - first;

	memset(columns[0].float64 + first, 0, count * sizeof *columns[0].float64);
	memset(columns[1].float64 + first, 0, count * sizeof *columns[1].float64);
	memset(columns[2].vertex + first, 0xFF, count * sizeof *columns[2].vertex);
	memset(columns[3].vertex + first, 0xFF, count * sizeof *columns[3].vertex);
}

/* Get the flow that arrives at the targets, which have label 0. */
static int64_t
sum_arrived(const Network *network)
{
	int64_t		sum = 0;

	for (uint64_t v = 0; v < network->graph->nvertices; v++)
		sum += network->label[v] == 0 ? network->excess[v] : 0;
	return sum;
}

/* Write the answer to the columns. */
static void
write_answer(Network *network)
{
	const bool	is_total = shape_of(network) == EMOGI_SHAPE_TOTAL;
	const double total = from_units(network, sum_arrived(network));

	if (shape_of(network) == EMOGI_SHAPE_FLOWS)
		find_flow(network);
	clear_columns(network, is_total ? 0 : list_edges(network));
	if (is_total && network->out->nedges > 0)
		network->run.result->columns[0].float64[0] = total;
}

EmogiStatus
emogi_cpu_max_flow(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Network		network = {.graph = graph, .query = query, .out = &graph->forward,
		.in = &graph->backward};

	emogi_cpu_run_begin(&network.run, pool, graph, 0, result, control, error, "maximum flow");
	result->nreached = graph->nvertices;
	if (open_network(&network) && label_ends(&network))
	{
		if (!emogi_flow_unit_choose(&network) || query->ntargets == 0)
			clear_columns(&network, 0);
		else
		{
			link_lists(&network);
			if (!emogi_job_stopped(&network.run.job))	/* otherwise not all are linked */
				find_preflow(&network);
			if (!emogi_job_stopped(&network.run.job))
				write_answer(&network);
		}
	}
	result->edges_traversed = network.nscanned;
	return emogi_cpu_run_end(&network.run);
}
