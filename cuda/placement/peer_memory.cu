/*
 * peer_memory.cu: takes pieces of memory of several GPUs, maps them side by side, and has them given back.
 */
#include "cuda/placement/peer_memory.cuh"

#include <cuda.h>
#include <string.h>

#include "cuda/placement/placing.cuh"

#define MOST_SPREADS 64			/* of all owners: a Graph has four at most */
#define OWN_SHARE 8				/* one byte in so many, of its memory or of its cap, a helper does not lend */

typedef struct Piece
{
	EmogiEngineState *lender;	/* whose memory it is; the owner, too, may be one */
	CUmemGenericAllocationHandle memory;
} Piece;

typedef struct PeerMemory
{
	EmogiEngineState *owner;	/* NULL = free */
	CUdeviceptr address;		/* of room for SPREAD_MOST_PIECES pieces; 0 = none yet */
	uint64_t	piece_bytes;
	uint64_t	elsewhere_bytes;	/* of pieces whose lender is not the owner */
	uint32_t	readers;		/* bits: the devices that may read it */
	int			npieces;		/* that are mapped */
	Piece		piece[SPREAD_MOST_PIECES];
} PeerMemory;

/* All that are complete, of all owners, under the lock. */
static PeerMemory spreads[MOST_SPREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What is used of the driver, which this library is not linked with. */
static struct
{
	decltype(&cuMemGetAllocationGranularity) granularity;
	decltype(&cuMemAddressReserve) reserve;
	decltype(&cuMemAddressFree) unreserve;
	decltype(&cuMemCreate) create;
	decltype(&cuMemRelease) release;
	decltype(&cuMemMap) map;
	decltype(&cuMemUnmap) unmap;
	decltype(&cuMemSetAccess) set_access;
} driver;

template <typename Function>
static bool
find(const char *name, Function *function)
{
	void	   *entry = NULL;
	cudaDriverEntryPointQueryResult found;

	if (cudaGetDriverEntryPointByVersion(name, &entry, 11000, cudaEnableDefault, &found) != cudaSuccess || found != cudaDriverEntryPointSuccess)
		entry = NULL;
	(void) cudaGetLastError();
	*function = (Function) entry;
	return entry != NULL;
}

/* Find the driver's functions; false when it does not have them. */
static bool
load_driver(void)
{
	static int	found;			/* 1 = yes, -1 = no; under the lock */
	bool		all;

	(void) pthread_mutex_lock(&lock);
	if (found == 0)
		found = find("cuMemGetAllocationGranularity", &driver.granularity) && find("cuMemAddressReserve", &driver.reserve) &&
			find("cuMemAddressFree", &driver.unreserve) && find("cuMemCreate", &driver.create) && find("cuMemRelease", &driver.release) &&
			find("cuMemMap", &driver.map) && find("cuMemUnmap", &driver.unmap) && find("cuMemSetAccess", &driver.set_access) ? 1 : -1;
	all = found > 0;
	(void) pthread_mutex_unlock(&lock);
	return all;
}

/* Say what a call of the driver came to as the runtime would; their numbers are the same. */
static cudaError_t
said(CUresult result)
{
	return (cudaError_t) result;
}

static CUmemAllocationProp
properties_of(const EmogiEngineState *state)
{
	CUmemAllocationProp properties = {};

	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties.location.id = state->device;
	return properties;
}

/* Can a state's GPU read another's memory that is mapped for it? */
static bool
can_read(const EmogiEngineState *state, const EmogiEngineState *lender)
{
	int			manages[2] = {0, 0};
	int			reads = 0;

	for (int i = 0; i < 2; i++)
		if (cudaDeviceGetAttribute(&manages[i], (cudaDeviceAttr) CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
								   i == 0 ? state->device : lender->device) != cudaSuccess)
			manages[i] = 0;
	if (cudaDeviceCanAccessPeer(&reads, state->device, lender->device) != cudaSuccess)
		reads = 0;
	(void) cudaGetLastError();
	return manages[0] != 0 && manages[1] != 0 && reads != 0;
}

/*
 * Get what a helper may lend: not all that it has, for a run there cannot have it back while the owner's is under way.
 */
static uint64_t
room_of(EmogiEngineState *lender)
{
	const uint64_t used = lender->taken_bytes + emogi_memory_lent(lender);
	const uint64_t most = lender->cap_bytes > 0 && lender->cap_bytes < lender->memory_bytes ? lender->cap_bytes : lender->memory_bytes;
	const uint64_t kept = used + most / OWN_SHARE;
	size_t		free_bytes = 0;
	size_t		total_bytes;
	uint64_t	room = most > kept ? most - kept : 0;

	(void) cudaSetDevice(lender->device);
	emogi_memory_trim(lender, 0);
	if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
		free_bytes = 0;
	(void) cudaGetLastError();
	if (lender->cap_bytes == 0)
		free_bytes = free_bytes > HEADROOM_BYTES ? free_bytes - HEADROOM_BYTES : 0;
	return room < free_bytes ? room : free_bytes;
}

void
emogi_peer_memory_make_room(EmogiEngineState *state, uint64_t graph_id)
{
	for (int i = 0; i < state->nhelpers; i++)
	{
		(void) cudaSetDevice(state->helper[i]->device);
		emogi_device_cache_forget(state->helper[i], graph_id);
	}
	(void) cudaSetDevice(state->device);
}

uint64_t
emogi_peer_memory_room(EmogiEngineState *state, uint64_t graph_id)
{
	uint64_t	room = 0;

	if (state->nhelpers == 0 || !load_driver())
		return 0;
	for (int i = 0; i < state->nhelpers; i++)
		if (can_read(state, state->helper[i]))
			room += room_of(state->helper[i]) + emogi_device_cache_bytes(state->helper[i], graph_id);
	(void) cudaSetDevice(state->device);
	return room;
}

/* Enter a complete spread; false when the table is full. */
static bool
enter(const PeerMemory *spread)
{
	bool		entered = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST_SPREADS && !entered; i++)
		if (spreads[i].owner == NULL)
		{
			spreads[i] = *spread;
			entered = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return entered;
}

/* Find an owner's spread, and take it out of the table if asked to; false when it has none of this address. */
static bool
look_up(const EmogiEngineState *owner, const void *block, bool remove, PeerMemory *spread)
{
	bool		found = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST_SPREADS && !found; i++)
		if (spreads[i].owner == owner && spreads[i].address == (CUdeviceptr) block)
		{
			*spread = spreads[i];
			if (remove)
				spreads[i].owner = NULL;
			found = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return found;
}

/* Undo a spread as far as it has come. No kernel reads it. */
static void
undo(const PeerMemory *spread)
{
	for (int i = 0; i < spread->npieces; i++)
	{
		const Piece *piece = &spread->piece[i];

		(void) driver.unmap(spread->address + i * spread->piece_bytes, spread->piece_bytes);
		(void) driver.release(piece->memory);
		emogi_memory_count(piece->lender, piece->lender != spread->owner, -(int64_t) spread->piece_bytes);
	}
	if (spread->address != 0)
		(void) driver.unreserve(spread->address, SPREAD_MOST_PIECES * spread->piece_bytes);
}

/* Map one more piece, of a lender's memory. */
static cudaError_t
map_piece(PeerMemory *spread, EmogiEngineState *lender)
{
	const CUmemAllocationProp properties = properties_of(lender);
	Piece	   *piece = &spread->piece[spread->npieces];
	cudaError_t code = emogi_cuda_fault();

	if (code == cudaSuccess)
		code = said(driver.create(&piece->memory, spread->piece_bytes, &properties, 0));
	if (code != cudaSuccess)
		return code;
	code = said(driver.map(spread->address + spread->npieces * spread->piece_bytes, spread->piece_bytes, 0, piece->memory, 0));
	if (code != cudaSuccess)
	{
		(void) driver.release(piece->memory);
		return code;
	}
	piece->lender = lender;
	spread->npieces++;
	spread->elsewhere_bytes += lender != spread->owner ? spread->piece_bytes : 0;
	emogi_memory_count(lender, lender != spread->owner, (int64_t) spread->piece_bytes);
	return cudaSuccess;
}

/* Map one more piece of the owner's memory, at the expense of what is idle there. */
static cudaError_t
map_own_piece(PeerMemory *spread)
{
	EmogiEngineState *owner = spread->owner;
	cudaError_t code = cudaErrorMemoryAllocation;

	if (emogi_memory_make_room(owner, spread->piece_bytes))
		while ((code = map_piece(spread, owner)) == cudaErrorMemoryAllocation && owner->evict(owner))
			emogi_memory_trim(owner, 0);
	return code;
}

/* Map one more piece of a helper's memory: of the next in turn that has room. */
static cudaError_t
map_lent_piece(PeerMemory *spread, uint64_t *room, int *turn)
{
	EmogiEngineState *owner = spread->owner;

	for (int i = 0; i < owner->nhelpers; i++)
	{
		const int	helper = (*turn)++ % owner->nhelpers;
		cudaError_t code;

		if (room[helper] < spread->piece_bytes)
			continue;
		room[helper] -= spread->piece_bytes;
		code = map_piece(spread, owner->helper[helper]);
		if (code != cudaErrorMemoryAllocation)
			return code;
		room[helper] = 0;
	}
	return cudaErrorMemoryAllocation;
}

/* Let the owner's GPU read all pieces, and each lender's fill its own. */
static cudaError_t
give_access(PeerMemory *spread)
{
	CUmemAccessDesc access[1 + EMOGI_MAX_HELPERS] = {};
	size_t		naccess = 1 + (size_t) spread->owner->nhelpers;

	for (size_t i = 0; i < naccess; i++)
	{
		access[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
		access[i].location.id = i == 0 ? spread->owner->device : spread->owner->helper[i - 1]->device;
		access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
		spread->readers |= UINT32_C(1) << access[i].location.id;
	}
	return said(driver.set_access(spread->address, spread->npieces * spread->piece_bytes, access, naccess));
}

/* Map all pieces. */
static cudaError_t
map_pieces(PeerMemory *spread, uint64_t bytes, double own_share)
{
	const CUmemAllocationProp properties = properties_of(spread->owner);
	uint64_t	room[EMOGI_MAX_HELPERS];
	size_t		unit;
	uint64_t	npieces;
	int			turn = 0;
	cudaError_t code = said(driver.granularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));

	if (code != cudaSuccess)
		return code;
	spread->piece_bytes = round_up((bytes + SPREAD_MOST_PIECES - 1) / SPREAD_MOST_PIECES, unit);
	npieces = (bytes + spread->piece_bytes - 1) / spread->piece_bytes;
	for (int i = 0; i < spread->owner->nhelpers; i++)
		room[i] = can_read(spread->owner, spread->owner->helper[i]) ? room_of(spread->owner->helper[i]) : 0;
	(void) cudaSetDevice(spread->owner->device);
	emogi_memory_trim(spread->owner, 0);
	code = said(driver.reserve(&spread->address, SPREAD_MOST_PIECES * spread->piece_bytes, 0, 0, 0));
	for (uint64_t i = 0; i < npieces && code == cudaSuccess; i++)
	{
		const bool	own = (uint64_t) ((double) (i + 1) * own_share) > (uint64_t) ((double) i * own_share);

		code = own ? map_own_piece(spread) : map_lent_piece(spread, room, &turn);
	}
	return code == cudaSuccess ? give_access(spread) : code;
}

EmogiStatus
emogi_peer_memory_take(DeviceMemory *memory, void **out, uint64_t bytes, double own_share, const char *what, EmogiError *error)
{
	PeerMemory		spread = {};
	const bool	fails = memory->fail_take > 0 && --memory->fail_take == 0;
	cudaError_t code = cudaErrorMemoryAllocation;

	*out = NULL;
	if (memory->nblocks == EMOGI_MAX_BLOCKS_HELD)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "too many blocks of device memory", "limit %d", EMOGI_MAX_BLOCKS_HELD);
	spread.owner = memory->state;
	if (!fails && load_driver())
		code = map_pieces(&spread, bytes, own_share);
	if (code == cudaSuccess && !enter(&spread))
		code = cudaErrorMemoryAllocation;
	if (code == cudaSuccess)
	{
		*out = (void *) spread.address;
		memory->block[memory->nblocks] = *out;
		memory->elsewhere_bytes[memory->nblocks] = spread.elsewhere_bytes < bytes ? spread.elsewhere_bytes : bytes;	/* these are whole pieces */
		memory->bytes[memory->nblocks++] = bytes;
		return EMOGI_OK;
	}
	undo(&spread);
	(void) cudaGetLastError();
	if (code == cudaErrorMemoryAllocation || code == cudaErrorNotSupported || code == cudaErrorNotPermitted)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPUs", "%s: %llu bytes of several GPUs' memory: %s", what,
								 (unsigned long long) bytes, cudaGetErrorName(code));
	return emogi_cuda_fail(error, code, "taking memory of several GPUs");
}

/* Wait for what the links of a spread's GPUs bring. */
static EmogiStatus
wait_for_all(const PeerMemory *spread, EmogiControl *control, EmogiError *error)
{
	EmogiEngineState *owner = spread->owner;

	for (int i = 0; i < owner->nhelpers; i++)
		TRY(emogi_cuda_wait(owner->helper[i], control, error));
	return emogi_cuda_wait(owner, control, error);
}

/* Queue the copies of a spread's pieces, each over its GPU's link, and wait now and then, so that a cancel is seen. */
static EmogiStatus
copy_pieces(const PeerMemory *spread, const char *from, uint64_t bytes, EmogiControl *control, EmogiError *error)
{
	const int	round = 4 * (1 + spread->owner->nhelpers);

	for (int i = 0; i < spread->npieces; i++)
	{
		const uint64_t at = i * spread->piece_bytes;
		const EmogiEngineState *lender = spread->piece[i].lender;

		CUDA_TRY(cudaSetDevice(lender->device));
		CUDA_TRY(cudaMemcpyAsync((void *) (spread->address + at), from + at, bytes - at < spread->piece_bytes ? bytes - at : spread->piece_bytes,
								 cudaMemcpyHostToDevice, lender->stream));
		if (i % round == round - 1)
			TRY(wait_for_all(spread, control, error));
	}
	return wait_for_all(spread, control, error);
}

EmogiStatus
emogi_peer_memory_fill(EmogiEngineState *state, const void *block, const void *from, uint64_t bytes, EmogiControl *control, EmogiError *error)
{
	PeerMemory		spread;
	EmogiStatus status;

	if (!look_up(state, block, false, &spread))
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "not memory of several GPUs", "block %p", block);
	status = copy_pieces(&spread, (const char *) from, bytes, control, error);
	for (int i = 0; i < state->nhelpers; i++)
		(void) cudaStreamSynchronize(state->helper[i]->stream); /* after an error, too: the memory will be freed */
	(void) cudaSetDevice(state->device);
	return status;
}

bool
emogi_peer_memory_is(const EmogiEngineState *state, const void *block)
{
	PeerMemory		spread;

	return look_up(state, block, false, &spread);
}

bool
emogi_peer_memory_reads(const EmogiEngineState *state, const void *block, const EmogiEngineState *other)
{
	PeerMemory		spread;

	return look_up(state, block, false, &spread) && (spread.readers >> other->device & 1) != 0;
}

bool
emogi_peer_memory_layout(const EmogiEngineState *state, const void *block, PeerMemoryLayout *layout)
{
	PeerMemory		spread;

	if (!look_up(state, block, false, &spread))
		return false;
	layout->piece_bytes = spread.piece_bytes;
	layout->npieces = spread.npieces;
	for (int i = 0; i < spread.npieces; i++)
		layout->lender[i] = spread.piece[i].lender;
	return true;
}

/* Free a block, if it is spread; false when it is not. */
static bool
free_spread(EmogiEngineState *state, const void *block)
{
	PeerMemory		spread;

	if (!look_up(state, block, true, &spread))
		return false;
	(void) cudaStreamSynchronize(state->stream);
	undo(&spread);
	(void) cudaGetLastError();
	return true;
}

static bool
has_lent(const PeerMemory *spread, const EmogiEngineState *lender)
{
	if (spread->owner == NULL || spread->owner == lender)
		return false;
	for (int i = 0; i < spread->npieces; i++)
		if (spread->piece[i].lender == lender)
			return true;
	return false;
}

/* Find an array for which a state lends memory and whose owner is not at work, and keep the owner from beginning. */
static bool
find_lent(const EmogiEngineState *lender, EmogiEngineState **owner, const void **block)
{
	bool		found = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST_SPREADS && !found; i++)
		if (has_lent(&spreads[i], lender) && pthread_mutex_trylock(&spreads[i].owner->at_work) == 0)
		{
			*owner = spreads[i].owner;
			*block = (const void *) spreads[i].address;
			found = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return found;
}

/* Have a state that is not at work drop an array for which this one lends memory; false when there is none. */
static bool
reclaim(EmogiEngineState *lender)
{
	EmogiEngineState *owner;
	const void *block;

	if (emogi_memory_lent(lender) == 0 || !find_lent(lender, &owner, &block))
		return false;
	emogi_device_cache_drop_memory(owner, block);
	(void) pthread_mutex_unlock(&owner->at_work);
	return true;
}

void
emogi_peer_memory_close(EmogiEngineState *lender)
{
	while (reclaim(lender))
		;
}

void
emogi_peer_memory_open(EmogiEngineState *state)
{
	(void) pthread_mutex_init(&state->at_work, NULL);
	state->reclaim = reclaim;
	state->free_spread = free_spread;
}
