/*
 * by_source.cu: distribution of parts, and the threads of the helper GPUs.
 */
#include "cuda/multi_gpu/by_source.cuh"

#include "cuda/core/device_cache.cuh"

/* Record that there will be no result. */
static void
stop_parts(BySource *parts)
{
	__atomic_store_n(&parts->stopped, 1, __ATOMIC_RELAXED);
}

/* Process parts with a helper GPU. */
static EmogiStatus
run_helper(BySourceHelper *helper)
{
	BySource   *parts = helper->parts;
	Run		   *run = &helper->run;
	EmogiError *error = &helper->error;

	CUDA_TRY(cudaSetDevice(run->state->device));
	*run->state->stop = 0;
	TRY(emogi_device_cache_begin(run->state, parts->graph, error));
	TRY(emogi_run_open(run, run->state, parts->graph, parts->query, parts->leader->control, error));
	run->devices = 0;			/* each has its own link */
	return parts->make(run, parts, parts->with, &helper->result, error);
}

/* Return whether a failure concerns one GPU only, so that others can continue. */
static bool
is_local_failure(EmogiStatus status)
{
	return status == EMOGI_NO_MEMORY || status == EMOGI_DEVICE_ERROR;
}

/* Thread main function of a helper GPU. */
static void *
helper_main(void *arg)
{
	BySourceHelper *helper = (BySourceHelper *) arg;
	const uint32_t fault = helper->parts->leader->control->fail_device_call;

	emogi_device_set_fault(fault & EMOGI_FAULT_OF_HELPER ? fault & ~EMOGI_FAULT_OF_HELPER : 0);
	helper->status = run_helper(helper);
	emogi_device_set_fault(0);
	emogi_run_close(&helper->run);
	if (helper->status != EMOGI_OK && !is_local_failure(helper->status))
		stop_parts(helper->parts);
	return NULL;
}

/* Start the threads of all helper GPUs. A helper whose thread cannot be started is left out. */
static void
begin_helpers(BySource *parts)
{
	EmogiEngineState *state = parts->leader->state;

	for (int i = 0; i < state->nhelpers && (uint64_t) parts->nhelpers + 1 < parts->nparts; i++)
	{
		BySourceHelper *helper = &parts->helper[parts->nhelpers];

		helper->parts = parts;
		helper->run.state = state->helper[i];
		helper->part = EMOGI_NO_PART;
		if (pthread_create(&helper->thread, NULL, helper_main, helper) == 0)
			parts->nhelpers++;
	}
	state->nhelpers = 0;
}

/* Wait for the helpers to finish, and note the parts that they have lost. */
static void
join_helpers(BySource *parts)
{
	for (int i = 0; i < parts->nhelpers; i++)
	{
		BySourceHelper *helper = &parts->helper[i];

		if (helper->has_left)
			continue;
		(void) pthread_join(helper->thread, NULL);
		helper->has_left = true;
		if (helper->status != EMOGI_OK && helper->part != EMOGI_NO_PART)
			parts->lost |= UINT32_C(1) << helper->part;
	}
}

/* Take the next part. */
static uint64_t
take_next(BySource *parts)
{
	uint64_t	part;

	if (__atomic_load_n(&parts->stopped, __ATOMIC_RELAXED) != 0)
		return EMOGI_NO_PART;
	part = __atomic_fetch_add(&parts->next, 1, __ATOMIC_RELAXED);
	return part < parts->nparts ? part : EMOGI_NO_PART;
}

uint64_t
emogi_by_source_take(BySource *parts, Run *run)
{
	uint64_t	part = take_next(parts);

	if (run != parts->leader)
	{
		((BySourceHelper *) run)->part = part;
		return part;
	}
	if (part != EMOGI_NO_PART)
		return part;
	join_helpers(parts);
	if (parts->lost == 0 || __atomic_load_n(&parts->stopped, __ATOMIC_RELAXED) != 0)
		return EMOGI_NO_PART;
	part = (uint64_t) __builtin_ctz(parts->lost);
	parts->lost &= parts->lost - 1;
	return part;
}

/* Add a helper's counters to the result. */
static void
account(const BySourceHelper *helper, EmogiResult *result)
{
	result->edges_traversed += helper->result.edges_traversed;
	result->link_bytes += helper->result.link_bytes;
	if (helper->result.nlevels > result->nlevels)
		result->nlevels = helper->result.nlevels;
	if (helper->status == EMOGI_OK)
		result->nlinks++;
	else if (is_local_failure(helper->status))
		emogi_device_exclude_helper(result, helper->run.state, helper->status, &helper->error);
}

EmogiStatus
emogi_by_source_make(BySource *parts, EmogiResult *result, EmogiError *error)
{
	EmogiStatus status;

	begin_helpers(parts);
	status = parts->make(parts->leader, parts, parts->with, result, error);
	if (status != EMOGI_OK)
		stop_parts(parts);
	join_helpers(parts);
	if (parts->nhelpers > 0)
		result->nlinks = 1;
	for (int i = 0; i < parts->nhelpers; i++)
	{
		const BySourceHelper *helper = &parts->helper[i];

		account(helper, result);
		if (status == EMOGI_OK && helper->status != EMOGI_OK && !is_local_failure(helper->status))
		{
			status = helper->status;
			*error = helper->error;
		}
	}
	return status;
}
