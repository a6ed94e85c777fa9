/*
 * residual_network.h: the residual network of a flow, with vertices in layers by their labels.
 *
 * Residual arcs of v are the entries of its forward list, and the entries of its backward list in
 * reverse. All have numbers, from 0. entry_of maps entries of the backward lists to the forward
 * lists, so flow and residual capacity are stored once an edge. A layer has all vertices of a
 * label, and a stack of those that are active.
 */
#ifndef EMOGI_RESIDUAL_NETWORK_H
#define EMOGI_RESIDUAL_NETWORK_H

#include "cpu/cpu_run.h"

#include "contract/semirings.h"

#include <math.h>

#define NONE EMOGI_NO_VERTEX
#define TOTAL_BITS 62			/* the capacities of the edges from sources are below 2^62 units */

typedef struct Network
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	const EmogiAdjacency *out;	/* forward lists */
	const EmogiAdjacency *in;	/* backward lists */
	int			unit;			/* a unit is 2^-unit */
	double		max_capacity;	/* more than the flow; larger capacities count as this */
	/* columns of the result */
	uint32_t   *low;			/* [nedges], of backward entries: bits 0 .. 31 of the entry of the
								 * forward lists that is the same edge, */
	uint32_t   *high;			/* [nedges]: and bits 32 .. 63 */
	int64_t    *flow;			/* [nedges], units, of entries of the forward lists */
	int64_t    *residual;		/* [nedges], units */
	/* scratch memory */
	int64_t    *excess;			/* [nvertices], units: flow that arrives and does not leave */
	uint64_t   *current;		/* [nvertices]: number of the next residual arc to examine */
	/* [nvertices]: lower bound of the number of residual arcs to a target; nvertices = no target
	 * can be reached (at first: a target), nvertices + 1 = a source; then the color */
	uint32_t   *label;
	uint32_t   *layer;			/* [nvertices]: first vertex with this label, NONE = none */
	uint32_t   *next;			/* [nvertices]: next vertex of a layer; then the search's path */
	uint32_t   *previous;		/* [nvertices]: previous vertex of a layer */
	uint32_t   *active;			/* [nvertices]: first vertex with this label and with excess */
	uint32_t   *next_active;	/* [nvertices] */
	uint32_t   *order;			/* [nvertices]: queue of the labels; then finished vertices */
	uint32_t	max_label;		/* no layer above it has a vertex */
	uint32_t	max_active;		/* no vertex above it is active */
	uint64_t	relabel_work;	/* since the last computation of all labels */
	uint64_t	nscanned;		/* arcs */
	uint64_t	polled;			/* arcs at the last poll */
} Network;

/* Check whether the run must stop, which is polled from time to time. */
static inline bool
has_stopped(Network *network)
{
	if (network->nscanned - network->polled > EMOGI_RUN_POLL)
	{
		network->polled = network->nscanned;
		(void) emogi_job_stopped(&network->run.job);
	}
	return __atomic_load_n(&network->run.job.status, __ATOMIC_RELAXED) != EMOGI_OK;
}

/* Get the capacity of an entry of the forward lists. */
static inline double
capacity_of(const Network *network, uint64_t e)
{
	return emogi_weight(network->out->weights, network->graph->weight_type, e);
}

/* Get the entry of the forward lists that is the same edge as an entry of the backward lists. */
static inline uint64_t
entry_of(const Network *network, uint64_t b)
{
	return network->low[b] | (uint64_t) network->high[b] << 32;
}

/* Get the entry of the forward lists that is the current one of a vertex. */
static inline uint64_t
entry_at(const Network *network, uint32_t v)
{
	return entry_of(network, network->in->offsets[v] + network->current[v]);
}

/* Get the number of residual arcs of a vertex that are entries of its forward list. */
static inline uint64_t
out_degree(const Network *network, uint64_t v)
{
	return network->out->offsets[v + 1] - network->out->offsets[v];
}

/* Get the number of all residual arcs of a vertex. */
static inline uint64_t
arc_count(const Network *network, uint64_t v)
{
	return out_degree(network, v) + network->in->offsets[v + 1] - network->in->offsets[v];
}

/* A residual arc, from the vertex whose arc it is to its head. */
typedef struct Arc
{
	uint32_t	head;
	uint64_t	index;			/* in the forward or backward lists */
	bool		is_reverse;		/* it is the reverse of an edge from the head */
} Arc;

/* Get a residual arc of a vertex by its number. */
static inline Arc
arc_at(const Network *network, uint64_t v, uint64_t number)
{
	const uint64_t degree = out_degree(network, v);
	uint64_t	i;

	if (number < degree)
	{
		i = network->out->offsets[v] + number;
		return (Arc) {network->out->targets[i], i, false};
	}
	i = network->in->offsets[v] + number - degree;
	return (Arc) {network->in->targets[i], i, true};
}

/* Get the flow that a residual arc can take. */
static inline int64_t
arc_residual(const Network *network, const Arc *arc)
{
	return arc->is_reverse ? network->flow[entry_of(network, arc->index)] :
		network->residual[arc->index];
}

/* Send flow over a residual arc. */
static inline void
arc_push(Network *network, const Arc *arc, int64_t amount)
{
	const uint64_t e = arc->is_reverse ? entry_of(network, arc->index) : arc->index;
	const int64_t change = arc->is_reverse ? -amount : amount;

	network->flow[e] += change;
	network->residual[e] -= change;
}

/* ---- units ---- */

/* Get the label of targets until the labels are computed. */
static inline uint32_t
target_label(const Network *network)
{
	return (uint32_t) network->graph->nvertices;
}

extern bool emogi_flow_unit_choose(Network *network);

/* Get a capacity in units. */
static inline int64_t
capacity_in_units(const Network *network, uint64_t e)
{
	return (int64_t) ldexp(fmin(capacity_of(network, e), network->max_capacity), network->unit);
}

/* Get units as a number. */
static inline double
from_units(const Network *network, int64_t units)
{
	return ldexp((double) units, -network->unit);
}

/* ---- layers ---- */

/* Put a vertex into the layer of its label. */
static inline void
enter_layer(Network *network, uint32_t v)
{
	const uint32_t label = network->label[v];
	const uint32_t first = network->layer[label];

	network->next[v] = first;
	network->previous[v] = NONE;
	if (first != NONE)
		network->previous[first] = v;
	network->layer[label] = v;
	if (network->max_label < label)
		network->max_label = label;
}

/* Take a vertex out of the layer of its label. */
static inline void
leave_layer(Network *network, uint32_t v)
{
	const uint32_t before = network->previous[v];
	const uint32_t after = network->next[v];

	if (before != NONE)
		network->next[before] = after;
	else
		network->layer[network->label[v]] = after;
	if (after != NONE)
		network->previous[after] = before;
}

/* Make a vertex active. */
static inline void
activate(Network *network, uint32_t v)
{
	const uint32_t label = network->label[v];

	network->next_active[v] = network->active[label];
	network->active[label] = v;
	if (network->max_active < label)
		network->max_active = label;
}

#endif							/* EMOGI_RESIDUAL_NETWORK_H */
