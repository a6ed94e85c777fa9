/*
 * test_rollup.c: roll-ups are the sums over all paths, enumerated one by one in small graphs; the same bits for any number of threads and on the
 * small graph of what the sources reach; a cycle within the edges that are used is named, and no other. The verifier notices what is changed.
 */
#include "engines.h"
#include "contract/reached_graph.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NTINY 4000
#define MOST_VERTICES 9
#define NKINDS 7				/* of weights, all finite */
#define LARGE 800000			/* edges */

static uint64_t ncyclic;
static uint64_t nacyclic;
static uint64_t nlimited;

/* An answer, or a refusal. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	int32_t    *level;
	double	   *quantity;
} Answer;

static Answer
make_answer(const EmogiGraph *graph)
{
	Answer		answer = {.level = naive_alloc(graph->nvertices, 4), .quantity = naive_alloc(graph->nvertices, 8)};

	answer.result.columns[0].int32 = answer.level;
	answer.result.columns[1].float64 = answer.quantity;
	return answer;
}

/* Ask an engine. */
static Answer
ask(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query, uint32_t fail_allocation)
{
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = make_answer(graph);

	answer.status = engine->run(state, graph, query, &answer.result, &control, &answer.error);
	return answer;
}

static void
forget(Answer *answer)
{
	free(answer->level);
	free(answer->quantity);
}

/* All paths of a small graph. */
typedef struct All
{
	const EmogiGraph *graph;
	int64_t		max_depth;		/* -1 = unlimited */
	int64_t		hops[MOST_VERTICES];	/* from the nearest source, or a large number */
	bool		on_path[MOST_VERTICES];
	bool		has_cycle;
	int64_t		level[MOST_VERTICES];
	double		sum[MOST_VERTICES];
	double		absolute[MOST_VERTICES];
} All;

#define FAR 1000000

/* Does the search use the edges of a vertex? */
static bool
uses(const All *all, uint32_t v)
{
	return all->hops[v] < FAR && (all->max_depth < 0 || all->hops[v] < all->max_depth);
}

/* Follow all paths on from a vertex; those that meet themselves make a cycle, unless the path is too long. */
static void
follow(All *all, uint32_t v, int64_t length, double product)
{
	const EmogiAdjacency *lists = &all->graph->forward;

	if (all->max_depth < 0 || length <= all->max_depth)
	{
		all->sum[v] += product;
		all->absolute[v] += fabs(product);
		all->level[v] = all->level[v] < length ? length : all->level[v];
	}
	all->on_path[v] = true;
	for (uint64_t e = lists->offsets[v]; uses(all, v) && e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];

		all->has_cycle |= all->on_path[w];
		if (!all->on_path[w])
			follow(all, w, length + 1, product * emogi_weight(lists->weights, all->graph->weight_type, e));
	}
	all->on_path[v] = false;
}

/* Find hops, by relaxing until nothing changes. */
static void
find_hops(All *all, const EmogiQuery *query)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	bool		changes = true;

	for (uint64_t v = 0; v < all->graph->nvertices; v++)
		all->hops[v] = FAR;
	for (uint64_t i = 0; i < query->nsources; i++)
		all->hops[query->sources[i]] = 0;
	while (changes)
	{
		changes = false;
		for (uint32_t v = 0; v < all->graph->nvertices; v++)
			for (uint64_t e = lists->offsets[v]; uses(all, v) && e < lists->offsets[v + 1]; e++)
				if (all->hops[lists->targets[e]] > all->hops[v] + 1)
				{
					all->hops[lists->targets[e]] = all->hops[v] + 1;
					changes = true;
				}
	}
}

/* Compare an answer with the sums over all paths. */
static void
check_naive(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *answer)
{
	All			all = {.graph = graph, .max_depth = query->max_depth};
	bool		seen[MOST_VERTICES] = {false};

	for (int v = 0; v < MOST_VERTICES; v++)
		all.level[v] = -1;
	find_hops(&all, query);
	for (uint64_t i = 0; i < query->nsources; i++)
		if (!seen[query->sources[i]])
		{
			seen[query->sources[i]] = true;
			follow(&all, query->sources[i], 0, 1.0);
		}
	CHECK(all.has_cycle == (answer->status == EMOGI_BAD_INPUT), "%s: a cycle, or none", name);
	for (uint64_t v = 0; !all.has_cycle && v < graph->nvertices; v++)
	{
		CHECK(answer->level[v] == all.level[v], "%s: vertex %llu is of level %d, not %lld", name, (unsigned long long) v, answer->level[v],
			  (long long) all.level[v]);
		CHECK(fabs(answer->quantity[v] - all.sum[v]) <= 1e-12 * all.absolute[v], "%s: vertex %llu has %.17g, not %.17g", name,
			  (unsigned long long) v, answer->quantity[v], all.sum[v]);
		nlimited += query->max_depth >= 0 && all.level[v] == query->max_depth;
	}
}

/* Check that a cycle that was named is there. */
static void
check_cycle(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiRefusal *refusal = &answer->result.refusal;
	const uint64_t nnamed = refusal->cycle_length < EMOGI_CYCLE_NAMED ? refusal->cycle_length : EMOGI_CYCLE_NAMED;

	CHECK(refusal->kind == EMOGI_HAS_CYCLE && refusal->cycle_length > 0 && answer->error.message[0] != '\0', "%s: refused without a reason", name);
	for (uint64_t i = 0; i < nnamed; i++)
	{
		const uint32_t u = refusal->cycle[i];
		const uint32_t v = refusal->cycle[i + 1 < nnamed ? i + 1 : 0];
		bool		has_edge = i + 1 == nnamed && nnamed < refusal->cycle_length;

		for (uint64_t e = graph->forward.offsets[u]; e < graph->forward.offsets[u + 1]; e++)
			has_edge |= graph->forward.targets[e] == v;
		CHECK(has_edge, "%s: no edge %u -> %u of the cycle", name, u, v);
	}
}

/* Compare with the run on what the sources reach. */
static void
check_reached(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *whole)
{
	EmogiReachedGraph reached;
	EmogiQuery	small = *query;
	Answer		answer;

	CHECK(emogi_reached_graph_make(graph, NULL, query->sources, query->nsources, query->max_depth, UINT64_MAX, &reached), "%s: not made", name);
	CHECK(reached.edges_scanned <= graph->forward.nedges, "%s: %llu edges", name, (unsigned long long) reached.edges_scanned);
	if (reached.edges_scanned > 0)
	{
		EmogiReachedGraph none;

		CHECK(!emogi_reached_graph_make(graph, NULL, query->sources, query->nsources, query->max_depth, reached.edges_scanned - 1, &none) &&
			  none.memory == NULL, "%s: made beyond its limit", name);
	}
	small.sources = reached.sources;
	answer = ask(states[0], &reached.graph, &small, 0);
	CHECK(answer.status == whole->status, "%s: status %d on what is reached", name, answer.status);
	if (answer.status == EMOGI_OK)
	{
		uint64_t	count = 0;

		for (uint64_t v = 0; v < graph->nvertices; v++)
		{
			if (whole->level[v] < 0)
				continue;
			CHECK(count < reached.graph.nvertices && reached.graph.ids[count] == (graph->ids != NULL ? graph->ids[v] : (int64_t) v) &&
				  answer.level[count] == whole->level[v] && memcmp(&answer.quantity[count], &whole->quantity[v], 8) == 0,
				  "%s: vertex %llu differs on what is reached", name, (unsigned long long) v);
			count++;
		}
		CHECK(count == reached.graph.nvertices, "%s: %llu vertices are reached", name, (unsigned long long) count);
	}
	else
	{
		const EmogiRefusal *refusal = &answer.result.refusal;

		CHECK(refusal->cycle_length == whole->result.refusal.cycle_length, "%s: another cycle on what is reached", name);
		for (uint64_t i = 0; i < refusal->cycle_length && i < EMOGI_CYCLE_NAMED; i++)
			CHECK(reached.graph.ids[refusal->cycle[i]] == (graph->ids != NULL ? graph->ids[whole->result.refusal.cycle[i]] :
														   (int64_t) whole->result.refusal.cycle[i]), "%s: another vertex of a cycle", name);
	}
	forget(&answer);
	emogi_reached_graph_free(&reached);
}

/* Ask all engines, with and without memory. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	Answer		first = ask(states[0], graph, query, 0);

	CHECK(first.status == EMOGI_OK || first.status == EMOGI_BAD_INPUT, "%s: status %d %s", name, first.status, first.error.message);
	ncyclic += first.status == EMOGI_BAD_INPUT;
	nacyclic += first.status == EMOGI_OK;
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = ask(states[e], graph, query, 0);

		CHECK(other.status == first.status && memcmp(&other.result.refusal, &first.result.refusal, sizeof first.result.refusal) == 0,
			  "%s: status %d, or another cycle", name, other.status);
		CHECK(first.status != EMOGI_OK ||
			  (memcmp(first.level, other.level, graph->nvertices * 4) == 0 && memcmp(first.quantity, other.quantity, graph->nvertices * 8) == 0),
			  "%s: not the bits of one thread", name);
		forget(&other);
	}
	if (first.status == EMOGI_OK)
		CHECK(emogi_verify(graph, query, &first.result, &first.error), "%s: %s", name, first.error.message);
	else
		check_cycle(name, graph, &first);
	for (uint32_t allocation = 1; allocation < 8; allocation++)
	{
		Answer		other = ask(states[1], graph, query, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == first.status, "%s: status %d without memory", name, other.status);
		forget(&other);
	}
	if (graph->nvertices <= MOST_VERTICES)
		check_naive(name, graph, query, &first);
	check_reached(name, graph, query, &first);
	for (int column = 0; first.status == EMOGI_OK && column < 2; column++)
	{
		const uint64_t v = query->sources[0];
		EmogiError	error = {{0}, {0}};

		if (!isfinite(first.quantity[v]))
			continue;
		first.level[v] += column == 0;
		first.quantity[v] += column == 1 ? 0.125 * (1 + fabs(first.quantity[v])) : 0;
		CHECK(!emogi_verify(graph, query, &first.result, &error), "%s: a change of column %d was not noticed", name, column);
		first.level[v] -= column == 0;
	}
	forget(&first);
}

/* Ask from one vertex or several, with and without a limit. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	sources[3];
	EmogiQuery	query = {.algorithm = EMOGI_ROLLUP, .sources = sources, .max_depth = -1};

	if (graph->nvertices == 0 || graph->backward.offsets == NULL)
		return;
	for (int i = 0; i < 3; i++)
		sources[i] = (uint32_t) (emogi_random(seed, 91 + (uint64_t) i) % graph->nvertices);
	for (int i = 0; i < 4; i++)
	{
		query.nsources = i % 2 == 0 ? 1 : 3;
		query.max_depth = i < 2 ? -1 : (int64_t) (emogi_random(seed, 95 + (uint64_t) i) % 5);
		check_query(name, graph, &query);
	}
}

/* Turn the edges of a shape so that they lead to larger keys; loops go. */
static void
straighten(EmogiShape *shape)
{
	uint64_t	count = 0;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		const EmogiEdge edge = shape->edges[i];

		if (edge.src != edge.dst)
			shape->edges[count++] = edge.src < edge.dst ? edge : (EmogiEdge) {edge.dst, edge.src};
	}
	shape->nedges = count;
}

/* A few vertices with edges, most without a cycle, some with. */
static void
check_tiny(void)
{
	for (uint64_t seed = 0; seed < NTINY; seed++)
	{
		const uint64_t nvertices = 2 + emogi_random(seed, 0) % (MOST_VERTICES - 1);
		EmogiEdge	edges[20];
		EmogiShape	shape = {.name = "tiny", .edges = edges, .nedges = 1 + emogi_random(seed, 1) % 18};
		double	   *weights;
		EmogiGraph	graph;

		for (uint64_t i = 0; i < shape.nedges; i++)
			edges[i] = (EmogiEdge) {(int64_t) (emogi_random(seed, 2 * i + 2) % nvertices), (int64_t) (emogi_random(seed, 2 * i + 3) % nvertices)};
		if (seed % 4 != 0)
			straighten(&shape);
		if (seed % 8 == 1 && shape.nedges > 1)
			edges[0] = (EmogiEdge) {edges[0].dst, edges[0].src};
		weights = naive_weights((int) (seed % NKINDS), seed, shape.nedges);
		for (uint64_t e = 0; weights != NULL && seed % 3 == 0 && e < shape.nedges; e += 2)
			weights[e] = -weights[e];
		graph = naive_build(&shape, weights, seed % 2 == 0 ? EMOGI_OUT : EMOGI_IN, true);
		check_graph("tiny", &graph, seed);
		naive_free(&graph);
		free(weights);
	}
}

/* Ask of a graph that is large enough for all threads; canceled before and while it runs. */
static void
check_large(void)
{
	const uint32_t sources[2] = {0, 1};
	EmogiQuery	query = {.algorithm = EMOGI_ROLLUP, .nsources = 2, .sources = sources, .max_depth = -1};
	EmogiShape	shape = {.name = "large", .nedges = LARGE, .edges = malloc(LARGE * sizeof(EmogiEdge))};
	double	   *weights = malloc(LARGE * sizeof *weights);
	EmogiGraph	graph;
	Answer		answer;

	for (uint64_t i = 0; i < LARGE; i++)
	{
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) % 65536), (int64_t) (emogi_random(3, i) % 65536)};
		weights[i] = 0.3 * (double) (emogi_random(5, i) % 1000) / 1000;
	}
	for (uint64_t i = 0; i < 1000; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (i % 2), (int64_t) (2 + i)};
	straighten(&shape);
	graph = naive_build(&shape, weights, EMOGI_OUT, true);
	check_query("large", &graph, &query);
	answer = ask(states[0], &graph, &query, 0);
	engines_check_cancel("large", &graph, &query, answer.result);
	forget(&answer);
	query.max_depth = 6;
	check_query("large, limited", &graph, &query);
	naive_free(&graph);
	free(weights);
	emogi_shape_free(&shape);
}

/* A long chain, which has as many levels as vertices, and one that is closed. */
static void
check_chain(void)
{
	const uint32_t source = 0;
	EmogiQuery	query = {.algorithm = EMOGI_ROLLUP, .nsources = 1, .sources = &source, .max_depth = -1};
	EmogiShape	chain = engines_chain(50000);
	EmogiGraph	graph = naive_build(&chain, NULL, EMOGI_OUT, true);
	Answer		answer = ask(states[1], &graph, &query, 0);

	CHECK(answer.status == EMOGI_OK && answer.level[50000] == 50000 && answer.quantity[50000] == 1.0, "a long chain");
	forget(&answer);
	naive_free(&graph);
	chain.edges[chain.nedges - 1].dst = 1000;
	graph = naive_build(&chain, NULL, EMOGI_OUT, true);
	answer = ask(states[1], &graph, &query, 0);
	CHECK(answer.status == EMOGI_BAD_INPUT && answer.result.refusal.cycle_length == 49000 && answer.result.refusal.cycle[0] == 1000,
		  "a long cycle: %llu edges", (unsigned long long) answer.result.refusal.cycle_length);
	forget(&answer);
	query.max_depth = 49999;	/* does not use the edge back */
	answer = ask(states[1], &graph, &query, 0);
	CHECK(answer.status == EMOGI_OK && answer.level[49999] == 49999, "a long cycle that is not closed: status %d", answer.status);
	forget(&answer);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(20, NKINDS, check_graph);
	check_tiny();
	check_large();
	check_chain();
	CHECK(ncyclic > 1000 && nacyclic > 1000 && nlimited > 1000, "%llu with a cycle, %llu without, %llu at the limit", (unsigned long long) ncyclic,
		  (unsigned long long) nacyclic, (unsigned long long) nlimited);
	engines_close();
	return check_report("test_rollup");
}
