/*
 * pull_spmv.c: the steps of sums over adjacency lists, and lists too long to be summed without
 * polling (pull_spmv.h).
 */
#include "cpu/pull_spmv.h"

EmogiPullSpmv
emogi_pull_spmv_over(EmogiCpuRun *run, const EmogiGraph *graph, const EmogiAdjacency *lists,
					 const EmogiQuery *query)
{
	return (EmogiPullSpmv) {.run = run, .lists = *lists,
		.transposed = lists == &graph->forward ? graph->backward : graph->forward,
		.weight_type = graph->weight_type,
		.weighted = query->is_weighted && graph->weight_type != EMOGI_WEIGHT_NONE,
		.nvertices = graph->nvertices,
		.nblocks = (graph->nvertices + EMOGI_PULL_BLOCK - 1) / EMOGI_PULL_BLOCK,
		.max_steps = query->max_iterations};
}

bool
emogi_pull_spmv_step(EmogiPullSpmv *pull, EmogiPoolTask step, void *arg)
{
	uint32_t	made = pull->nsteps;
	double		start;

	if (made == 0 && !pull->weighted &&
		!emogi_blocked_spmv_make(&pull->tiles, pull->run, &pull->lists, &pull->transposed,
								 pull->nvertices, pull->max_steps))
		return false;
	start = emogi_pool_now_ms();
	if (made < 2)
		pull->ahead = made == 1;
	if (!emogi_cpu_run_step(pull->run, step, arg, false))
		return false;
	if (made < 2)
	{
		pull->trial_ms[made] = emogi_pool_now_ms() - start;
		pull->nsteps++;
	}
	if (made == 1)
		pull->ahead = pull->trial_ms[1] < pull->trial_ms[0];
	return true;
}

bool
emogi_pull_spmv_next_group(EmogiPullCursor *turn)
{
	EmogiPullSpmv *pull = turn->pull;
	const uint32_t bits = pull->tiles.group_bits;
	uint64_t	group;

	if (emogi_job_stopped(&pull->run->job) ||
		(group = emogi_job_claim(&pull->run->next, 1)) >= pull->tiles.ngroups)
		return false;
	turn->first = group << bits;
	turn->block = group << (bits - EMOGI_PULL_BLOCK_BITS);
	turn->upto = emogi_cpu_run_chunk_end(turn->block, UINT64_C(1) << (bits - EMOGI_PULL_BLOCK_BITS),
										 pull->nblocks);
	if (pull->units != NULL)
		turn->unit_sums = emogi_blocked_spmv_sum_units(&pull->tiles, &pull->run->job, pull->units,
													   group, turn->thread);
	else
		turn->sums = emogi_blocked_spmv_sum(&pull->tiles, &pull->run->job, pull->values, group,
											turn->thread);
	return turn->sums != NULL || turn->unit_sums != NULL;
}

bool
emogi_pull_spmv_long_list(const EmogiPullSpmv *pull, uint64_t first, uint64_t end,
						  EmogiPullSum *sum)
{
	*sum = (EmogiPullSum) {0};
	for (uint64_t i = first; i < end; i += EMOGI_RUN_POLL)
	{
		uint64_t	stop = emogi_cpu_run_chunk_end(i, EMOGI_RUN_POLL, end);

		if (pull->units != NULL)
			*sum = emogi_pull_spmv_entries(pull, pull->lists.targets + i, stop - i, false, true,
										   *sum);
		else if (pull->weighted)
			sum->value += emogi_pull_spmv_weighted(pull, i, stop - i);
		else
			*sum = emogi_pull_spmv_entries(pull, pull->lists.targets + i, stop - i, false, false,
										   *sum);
		if (emogi_job_stopped(&pull->run->job))
			return false;
	}
	return true;
}
