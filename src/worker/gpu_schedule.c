/*
 * gpu_schedule.c: assignment of GPUs to requests: preferably a free GPU that has the graph cached,
 * otherwise the one that uses the least memory, and helpers.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "cache/cache.h"
#include "worker/gpu_schedule.h"

/*
 * Choose a free GPU for a graph: one that has it cached, otherwise the one that uses the least
 * memory.
 */
static int
choose_gpu(uint64 graph_id, uint32 free_gpus)
{
	const uint32 caching = graph_id != 0 ? emogi_cache_gpus(graph_id) & free_gpus : 0;
	int			chosen = pg_rightmost_one_pos32(caching != 0 ? caching : free_gpus);

	for (int gpu = chosen + 1; caching == 0 && gpu < emogi_shared->ncuda; gpu++)
		if ((free_gpus & (UINT32_C(1) << gpu)) != 0 &&
			emogi_shared->cuda[gpu].device.used_bytes <
			emogi_shared->cuda[chosen].device.used_bytes)
			chosen = gpu;
	return chosen;
}

/* Convert a set of GPUs to a set of the driver's device numbers (bit masks). */
static uint32
device_numbers(uint32 gpus)
{
	uint32		devices = 0;

	for (int gpu = 0; gpu < emogi_shared->ncuda; gpu++)
		if (gpus >> gpu & 1)
			devices |= UINT32_C(1) << emogi_shared->cuda[gpu].device.number;
	return devices;
}

/* Count the queued requests that need a GPU. */
static int
count_waiting(void)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
		count += emogi_shared->slots[i].state == EMOGI_SLOT_QUEUED &&
			emogi_threads_uses_gpu(&emogi_shared->slots[i].request);
	LWLockRelease(emogi_shared->lock);
	return count;
}

/*
 * Assign a GPU to a request. If they are useful, also assign the remaining free GPUs as helpers,
 * except as many as there are requests waiting for a GPU. The links of the remaining free GPUs may
 * transfer edges in any case, because this takes nothing from others.
 */
void
emogi_gpu_schedule_assign(EmogiWork *work)
{
	const EmogiEngine *engine = emogi_gpus_engine();
	EmogiRequest *request = &work->request;
	uint32		others;

	work->gpu = choose_gpu(request->graph.id, emogi_gpus_free());
	others = emogi_gpus_free() & ~(UINT32_C(1) << work->gpu);
	request->query.devices = device_numbers(others);
	if (others == 0 || engine->wants_help == NULL ||
		!engine->wants_help(emogi_gpus_state(work->gpu), &request->graph, &request->query))
		return;
	for (int waiting = count_waiting(); waiting > 0 && others != 0; waiting--)
		others &= others - 1;
	work->helpers = others;
}

/*
 * Choose a free GPU that may have copies of the old graph, to derive its copies of a merged graph;
 * EMOGI_NO_GPU = none.
 */
int
emogi_gpu_schedule_choose_deriving(const EmogiWork *work)
{
	const uint32 gpus = emogi_cache_gpus(work->request.graph.id) & emogi_gpus_free();

	return gpus != 0 ? pg_rightmost_one_pos32(gpus) : EMOGI_NO_GPU;
}
