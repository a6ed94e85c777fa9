/*
 * memory.cu: device memory: the pool, the cap, and what is evicted when memory is short.
 *
 * Allocating from the driver and freeing costs as much as a run on a small graph. Therefore memory
 * comes from a stream-ordered pool, and after a run all idle memory beyond ready_bytes goes back to
 * the driver, because other processes want it too. The pool's own release threshold does not serve:
 * it compares with all memory that the pool holds, including cached copies. On a device without
 * pools, each allocation goes to the driver.
 */
#include "cuda/core/device.cuh"

#define READY_SHARE 64	/* 1/64 of device memory or of the cap stays ready for the next runs */

EmogiStatus
emogi_memory_open(EmogiEngineState *state, bool plain, EmogiError *error)
{
	cudaMemPoolProps properties = {};
	uint64_t	threshold = UINT64_MAX;
	const uint64_t cap = state->cap_bytes;
	size_t		free_bytes;
	size_t		total_bytes;
	int			supported;

	CUDA_TRY(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, state->device));
	if (plain || !supported)
		return EMOGI_OK;
	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	properties.location.id = state->device;
	CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
	CUDA_TRY(cudaMemPoolCreate(&state->pool, &properties));
	CUDA_TRY(cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	state->ready_bytes = (cap > 0 && cap < total_bytes ? cap : total_bytes) / READY_SHARE;
	return EMOGI_OK;
}

void
emogi_memory_close(EmogiEngineState *state)
{
	if (state->pool == NULL)
		return;
	if (state->stream != NULL)
		(void) cudaStreamSynchronize(state->stream);
	(void) cudaMemPoolDestroy(state->pool);
	(void) cudaGetLastError();
}

bool
emogi_memory_show(EmogiEngineState *state, int device)
{
	const uint32_t bit = UINT32_C(1) << device;
	cudaMemAccessDesc access = {};
	int			can = 0;
	bool		shown = (state->seeing & bit) != 0;

	access.location.type = cudaMemLocationTypeDevice;
	access.location.id = device;
	access.flags = cudaMemAccessFlagsProtReadWrite;
	if (!shown && state->pool != NULL &&
		cudaDeviceCanAccessPeer(&can, device, state->device) == cudaSuccess && can != 0)
		shown = cudaMemPoolSetAccess(state->pool, &access, 1) == cudaSuccess;
	(void) cudaGetLastError();
	state->seeing |= shown ? bit : 0;
	return shown;
}

EmogiStatus
emogi_memory_idle(const EmogiEngineState *state, uint64_t *bytes, EmogiError *error)
{
	uint64_t	reserved_bytes;
	uint64_t	used_bytes;

	*bytes = 0;
	if (state->pool == NULL)
		return EMOGI_OK;
	CUDA_TRY(cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrReservedMemCurrent,
									 &reserved_bytes));
	CUDA_TRY(cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrUsedMemCurrent, &used_bytes));
	*bytes = reserved_bytes > used_bytes ? reserved_bytes - used_bytes : 0;
	return EMOGI_OK;
}

void
emogi_memory_trim(EmogiEngineState *state, uint64_t ready_bytes)
{
	uint64_t	reserved_bytes;
	uint64_t	used_bytes;

	if (state->pool == NULL)
		return;
	(void) cudaStreamSynchronize(state->stream);	/* freed memory is idle only after this */
	if (cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrUsedMemCurrent,
								&used_bytes) == cudaSuccess)
	{
		(void) cudaMemPoolTrimTo(state->pool, used_bytes + ready_bytes);
		/*
		 * The driver keeps at least that much, in steps of 32 MiB and more. Keep nothing rather
		 * than more than ready_bytes.
		 */
		if (cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrReservedMemCurrent,
									&reserved_bytes) == cudaSuccess &&
			reserved_bytes > used_bytes + ready_bytes)
			(void) cudaMemPoolTrimTo(state->pool, used_bytes);
	}
	(void) cudaGetLastError();
}

uint64_t
emogi_memory_lent(const EmogiEngineState *state)
{
	return __atomic_load_n(&state->lent_bytes, __ATOMIC_RELAXED);
}

void
emogi_memory_count(EmogiEngineState *state, bool is_lent, int64_t bytes)
{
	if (is_lent)
		(void) __atomic_fetch_add(&state->lent_bytes, (uint64_t) bytes, __ATOMIC_RELAXED);
	else
		state->taken_bytes += (uint64_t) bytes;
}

/* Return the part of the cap that is left to the engine itself after lending. */
static uint64_t
own_cap(const EmogiEngineState *state)
{
	const uint64_t lent = emogi_memory_lent(state);

	return state->cap_bytes > lent ? state->cap_bytes - lent : 0;
}

bool
emogi_memory_make_room(EmogiEngineState *state, uint64_t bytes)
{
	uint64_t	cap;

	if (state->cap_bytes == 0)
		return true;
	while (cap = own_cap(state),
		   bytes > cap || state->taken_bytes - state->idle_bytes(state) > cap - bytes)
		if (!state->reclaim(state))
			return false;
	while (state->taken_bytes > cap - bytes)
		(void) state->evict(state);	/* the idle copies suffice */
	return true;
}

/* Allocate memory; if there is none, give the pool's idle memory back first and retry. */
static cudaError_t
allocate(EmogiEngineState *state, void **out, uint64_t bytes)
{
	cudaError_t code;

	if (state->pool == NULL)
		return cudaMalloc(out, bytes);
	code = cudaMallocFromPoolAsync(out, bytes, state->pool, state->stream);
	if (code != cudaErrorMemoryAllocation)
		return code;
	emogi_memory_trim(state, 0);
	return cudaMallocFromPoolAsync(out, bytes, state->pool, state->stream);
}

EmogiStatus
emogi_memory_take(DeviceMemory *memory, void **out, uint64_t bytes, const char *what,
				  EmogiError *error)
{
	EmogiEngineState *state = memory->state;
	const uint64_t wanted = bytes > 0 ? bytes : 1;
	const bool	fails = memory->fail_take > 0 && --memory->fail_take == 0;
	cudaError_t code = cudaErrorMemoryAllocation;

	*out = NULL;
	if (memory->nblocks == EMOGI_MAX_BLOCKS_HELD)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "too many blocks of device memory",
								 "limit %d", EMOGI_MAX_BLOCKS_HELD);
	if (!fails && !emogi_memory_make_room(state, wanted))
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "the run exceeds its limit of device memory",
								 "%s: %llu bytes above the %llu taken, cap %llu", what,
								 (unsigned long long) wanted,
								 (unsigned long long) state->taken_bytes,
								 (unsigned long long) state->cap_bytes);
	while (!fails && (code = allocate(state, out, wanted)) == cudaErrorMemoryAllocation &&
		   (state->evict(state) || state->reclaim(state)))
		;
	if (code != cudaSuccess)
	{
		*out = NULL;
		(void) cudaGetLastError();
	}
	if (code == cudaErrorMemoryAllocation)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPU",
								 "%s: %llu bytes above the %llu taken: %s", what,
								 (unsigned long long) wanted,
								 (unsigned long long) state->taken_bytes, cudaGetErrorString(code));
	if (code != cudaSuccess)
		return emogi_cuda_fail(error, code, "allocating device memory");
	memory->block[memory->nblocks] = *out;
	memory->elsewhere_bytes[memory->nblocks] = 0;
	memory->bytes[memory->nblocks++] = wanted;
	state->taken_bytes += wanted;
	return EMOGI_OK;
}

EmogiStatus
emogi_memory_left(const DeviceMemory *memory, uint64_t *bytes, EmogiError *error)
{
	const EmogiEngineState *state = memory->state;
	uint64_t	idle_bytes;
	size_t		free_bytes;
	size_t		total_bytes;

	CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
	TRY(emogi_memory_idle(state, &idle_bytes, error));
	*bytes = free_bytes + idle_bytes + emogi_memory_lent(state);
	if (state->cap_bytes > 0)
	{
		const uint64_t left = state->cap_bytes > state->taken_bytes ?
			state->cap_bytes - state->taken_bytes : 0;

		if (left < *bytes)
			*bytes = left;
	}
	*bytes += state->idle_bytes(state);
	return EMOGI_OK;
}

void
emogi_memory_release(DeviceMemory *memory, int nblocks)
{
	while (memory->nblocks > nblocks)
	{
		memory->nblocks--;
		emogi_memory_free(memory->state, memory->block[memory->nblocks],
						  memory->bytes[memory->nblocks]);
	}
}

void
emogi_memory_return(DeviceMemory *memory, const void *block)
{
	for (int i = 0; i < memory->nblocks; i++)
	{
		if (memory->block[i] != block)
			continue;
		emogi_memory_free(memory->state, memory->block[i], memory->bytes[i]);
		memory->nblocks--;
		for (; i < memory->nblocks; i++)
		{
			memory->block[i] = memory->block[i + 1];
			memory->bytes[i] = memory->bytes[i + 1];
			memory->elsewhere_bytes[i] = memory->elsewhere_bytes[i + 1];
		}
	}
}

void
emogi_memory_free(EmogiEngineState *state, void *block, uint64_t bytes)
{
	if (state->free_peer(state, block))
		return;
	state->taken_bytes -= bytes;
	if (state->pool == NULL)
		(void) cudaFree(block);
	else
		(void) cudaFreeAsync(block, state->stream);
	(void) cudaGetLastError();
}
