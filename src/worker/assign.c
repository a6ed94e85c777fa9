/*
 * assign.c: which GPUs a request gets: of those that are free one that has copies of its Graph, else that which keeps the least, and others to help it.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "cache/cache.h"
#include "worker/assign.h"

/* Choose a GPU for a Graph, of some that are free: one that knows it, else that which keeps the least. */
static int
choose_gpu(uint64 graph_id, uint32 free_gpus)
{
	const uint32 knowing = graph_id != 0 ? emogi_cache_gpus(graph_id) & free_gpus : 0;
	int			chosen = pg_rightmost_one_pos32(knowing != 0 ? knowing : free_gpus);

	for (int gpu = chosen + 1; knowing == 0 && gpu < emogi_shared->ncuda; gpu++)
		if ((free_gpus & (UINT32_C(1) << gpu)) != 0 &&
			emogi_shared->cuda[gpu].device.used_bytes < emogi_shared->cuda[chosen].device.used_bytes)
			chosen = gpu;
	return chosen;
}

/* Get the numbers that the driver gives some GPUs, bits by number. */
static uint32
device_numbers(uint32 gpus)
{
	uint32		devices = 0;

	for (int gpu = 0; gpu < emogi_shared->ncuda; gpu++)
		if (gpus >> gpu & 1)
			devices |= UINT32_C(1) << emogi_shared->cuda[gpu].device.number;
	return devices;
}

/* Count the requests that wait for a GPU. */
static int
count_waiting(void)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
		count += emogi_shared->slots[i].state == EMOGI_SLOT_QUEUED && emogi_threads_uses_gpu(&emogi_shared->slots[i].request);
	LWLockRelease(emogi_shared->lock);
	return count;
}

/*
 * Give a request a GPU, and of the others that are free those which nobody waits for: to help it, where that is of use, and their links to bring it
 * edges, which takes nothing from others.
 */
void
emogi_assign_gpus(EmogiWork *work)
{
	const EmogiEngine *engine = emogi_gpus_engine();
	EmogiRequest *request = &work->request;
	uint32		others;

	work->gpu = choose_gpu(request->graph.id, emogi_gpus_free());
	others = emogi_gpus_free() & ~(UINT32_C(1) << work->gpu);
	request->query.devices = device_numbers(others);
	if (others == 0 || engine->wants_help == NULL || !engine->wants_help(emogi_gpus_state(work->gpu), &request->graph, &request->query))
		return;
	for (int waiting = count_waiting(); waiting > 0 && others != 0; waiting--)
		others &= others - 1;
	work->helpers = others;
}

/* Choose a GPU that is to derive its copies of the Graph that some work has spliced: a free one that may have some of the old Graph; EMOGI_NO_GPU = none. */
int
emogi_assign_deriving(const EmogiWork *work)
{
	const uint32 gpus = emogi_cache_gpus(work->request.graph.id) & emogi_gpus_free();

	return gpus != 0 ? pg_rightmost_one_pos32(gpus) : EMOGI_NO_GPU;
}
