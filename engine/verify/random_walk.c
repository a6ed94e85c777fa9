/*
 * random_walk.c: verify random walks: they begin at their sources, follow edges of nonzero weight,
 * and end early only at a vertex without such an edge. Their randomness is left to tests of many
 * walks.
 */
#include "check.h"

#include "contract/lists.h"
#include "contract/semirings.h"

/*
 * Check whether an edge of nonzero weight leads from one vertex to another; EMOGI_NO_VERTEX = to
 * any vertex.
 */
static bool
leads_to(const EmogiCheck *check, uint32_t from, uint32_t to)
{
	const EmogiGraph *graph = check->graph;
	uint64_t	e = to == EMOGI_NO_VERTEX ? graph->forward.offsets[from]
		: emogi_lists_find(&graph->forward, from, to);

	for (; e < graph->forward.offsets[from + 1] &&
		 (to == EMOGI_NO_VERTEX || graph->forward.targets[e] == to); e++)
		if (!check->query->is_weighted ||
			emogi_weight(graph->forward.weights, graph->weight_type, e) > 0.0)
			return true;
	return false;
}

/* Check walks first .. end-1. */
static void
check_walks(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const uint64_t length = (uint64_t) check->query->length;

	for (uint64_t i = first; i < end; i++)
	{
		const uint32_t *path = check->result->columns[0].vertex + i * (length + 1);
		uint64_t	step = 0;

		if (path[0] != check->query->sources[i / (uint64_t) check->query->walks])
			emogi_check_wrong(check, "walk %llu begins at %u", (unsigned long long) i, path[0]);
		while (emogi_check_ok(check) && step < length && path[step + 1] != EMOGI_NO_VERTEX)
		{
			if (path[step + 1] >= check->graph->nvertices ||
				!leads_to(check, path[step], path[step + 1]))
				emogi_check_wrong(check, "step %llu of walk %llu follows no edge",
								  (unsigned long long) step + 1, (unsigned long long) i);
			step++;
		}
		if (!emogi_check_ok(check))
			return;
		if (step < length && leads_to(check, path[step], EMOGI_NO_VERTEX))
			emogi_check_wrong(check, "walk %llu ends at step %llu", (unsigned long long) i,
							  (unsigned long long) step);
		for (; step < length; step++)
			if (path[step + 1] != EMOGI_NO_VERTEX)
				emogi_check_wrong(check, "walk %llu goes on after its end", (unsigned long long) i);
	}
}

bool
emogi_verify_random_walk(EmogiCheck *check)
{
	return emogi_check_parts(check, check_walks, check,
							 check->query->nsources * (uint64_t) check->query->walks);
}
