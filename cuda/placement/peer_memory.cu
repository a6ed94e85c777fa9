/*
 * peer_memory.cu: allocation of memory on several GPUs, mapped at contiguous addresses, and its
 * reclaim.
 */
#include "cuda/placement/peer_memory.cuh"

#include <cuda.h>
#include <string.h>

#include "cuda/placement/placement_internal.cuh"

#define MAX_PEER_ARRAYS 64		/* of all owners; a graph has four at most */
#define OWN_SHARE 8				/* a helper keeps 1/8 of its memory or of its cap */

typedef struct Piece
{
	EmogiEngineState *lender;	/* whose memory it is; the owner itself may be a lender */
	CUmemGenericAllocationHandle memory;
} Piece;

typedef struct PeerMemory
{
	EmogiEngineState *owner;	/* NULL = free */
	CUdeviceptr address; /* of PEER_MAX_PIECES pieces of address space; 0 = not reserved yet */
	uint64_t	piece_bytes;
	uint64_t	elsewhere_bytes;	/* of pieces whose lender is not the owner */
	uint32_t	readers;		/* bitmap of the devices that may read it */
	int			npieces;		/* mapped pieces */
	Piece		piece[PEER_MAX_PIECES];
} PeerMemory;

/* All complete arrays of all owners, protected by the lock. */
static PeerMemory peer_arrays[MAX_PEER_ARRAYS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Functions of the driver, which this library is not linked with. */
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

	if (cudaGetDriverEntryPointByVersion(name, &entry, 11000, cudaEnableDefault,
										 &found) != cudaSuccess ||
		found != cudaDriverEntryPointSuccess)
		entry = NULL;
	(void) cudaGetLastError();
	*function = (Function) entry;
	return entry != NULL;
}

/* Load the driver's functions; return false if it lacks any. */
static bool
load_driver(void)
{
	static int	found;			/* 1 = yes, -1 = no; protected by the lock */
	bool		all;

	(void) pthread_mutex_lock(&lock);
	if (found == 0)
		found = find("cuMemGetAllocationGranularity", &driver.granularity) &&
			find("cuMemAddressReserve", &driver.reserve) &&
			find("cuMemAddressFree", &driver.unreserve) && find("cuMemCreate", &driver.create) &&
			find("cuMemRelease", &driver.release) && find("cuMemMap", &driver.map) &&
			find("cuMemUnmap", &driver.unmap) &&
			find("cuMemSetAccess", &driver.set_access) ? 1 : -1;
	all = found > 0;
	(void) pthread_mutex_unlock(&lock);
	return all;
}

/* Convert the result of a driver call to the runtime's type; their numbers are the same. */
static cudaError_t
runtime_code(CUresult result)
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

/* Return whether a state's GPU can read another's memory that is mapped for it. */
static bool
can_read(const EmogiEngineState *state, const EmogiEngineState *lender)
{
	int			manages[2] = {0, 0};
	int			reads = 0;

	for (int i = 0; i < 2; i++)
		if (cudaDeviceGetAttribute(&manages[i],
				(cudaDeviceAttr) CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
				i == 0 ? state->device : lender->device) != cudaSuccess)
			manages[i] = 0;
	if (cudaDeviceCanAccessPeer(&reads, state->device, lender->device) != cudaSuccess)
		reads = 0;
	(void) cudaGetLastError();
	return manages[0] != 0 && manages[1] != 0 && reads != 0;
}

/*
 * Return the bytes that a helper may lend: not all of its memory, because a run there cannot get it
 * back while the owner's run is active.
 */
static uint64_t
lendable_bytes(EmogiEngineState *lender)
{
	const uint64_t used = lender->taken_bytes + emogi_memory_lent(lender);
	const uint64_t max_bytes = lender->cap_bytes > 0 &&
		lender->cap_bytes < lender->memory_bytes ? lender->cap_bytes : lender->memory_bytes;
	const uint64_t kept = used + max_bytes / OWN_SHARE;
	size_t		free_bytes = 0;
	size_t		total_bytes;
	uint64_t	room = max_bytes > kept ? max_bytes - kept : 0;

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
			room += lendable_bytes(state->helper[i]) + emogi_device_cache_bytes(state->helper[i],
																				graph_id);
	(void) cudaSetDevice(state->device);
	return room;
}

/* Add a complete array to the table; return false if the table is full. */
static bool
add_array(const PeerMemory *array)
{
	bool		added = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_PEER_ARRAYS && !added; i++)
		if (peer_arrays[i].owner == NULL)
		{
			peer_arrays[i] = *array;
			added = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return added;
}

/*
 * Find the owner's array at an address, and optionally remove it from the table; return false if
 * there is none.
 */
static bool
look_up(const EmogiEngineState *owner, const void *block, bool remove, PeerMemory *array)
{
	bool		found = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_PEER_ARRAYS && !found; i++)
		if (peer_arrays[i].owner == owner && peer_arrays[i].address == (CUdeviceptr) block)
		{
			*array = peer_arrays[i];
			if (remove)
				peer_arrays[i].owner = NULL;
			found = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return found;
}

/* Free a complete or partial array. No kernel may be reading it. */
static void
undo(const PeerMemory *array)
{
	for (int i = 0; i < array->npieces; i++)
	{
		const Piece *piece = &array->piece[i];

		(void) driver.unmap(array->address + i * array->piece_bytes, array->piece_bytes);
		(void) driver.release(piece->memory);
		emogi_memory_count(piece->lender, piece->lender != array->owner,
						   -(int64_t) array->piece_bytes);
	}
	if (array->address != 0)
		(void) driver.unreserve(array->address, PEER_MAX_PIECES * array->piece_bytes);
}

/* Map one more piece of a lender's memory. */
static cudaError_t
map_piece(PeerMemory *array, EmogiEngineState *lender)
{
	const CUmemAllocationProp properties = properties_of(lender);
	Piece	   *piece = &array->piece[array->npieces];
	cudaError_t code = emogi_cuda_fault();

	if (code == cudaSuccess)
		code = runtime_code(driver.create(&piece->memory, array->piece_bytes, &properties, 0));
	if (code != cudaSuccess)
		return code;
	code = runtime_code(driver.map(array->address + array->npieces * array->piece_bytes,
								   array->piece_bytes, 0, piece->memory, 0));
	if (code != cudaSuccess)
	{
		(void) driver.release(piece->memory);
		return code;
	}
	piece->lender = lender;
	array->npieces++;
	array->elsewhere_bytes += lender != array->owner ? array->piece_bytes : 0;
	emogi_memory_count(lender, lender != array->owner, (int64_t) array->piece_bytes);
	return cudaSuccess;
}

/* Map one more piece of the owner's memory, evicting idle copies if necessary. */
static cudaError_t
map_own_piece(PeerMemory *array)
{
	EmogiEngineState *owner = array->owner;
	cudaError_t code = cudaErrorMemoryAllocation;

	if (emogi_memory_make_room(owner, array->piece_bytes))
		while ((code = map_piece(array, owner)) == cudaErrorMemoryAllocation && owner->evict(owner))
			emogi_memory_trim(owner, 0);
	return code;
}

/* Map one more piece of a helper's memory: the next one, round-robin, that has room. */
static cudaError_t
map_lent_piece(PeerMemory *array, uint64_t *room, int *turn)
{
	EmogiEngineState *owner = array->owner;

	for (int i = 0; i < owner->nhelpers; i++)
	{
		const int	helper = (*turn)++ % owner->nhelpers;
		cudaError_t code;

		if (room[helper] < array->piece_bytes)
			continue;
		room[helper] -= array->piece_bytes;
		code = map_piece(array, owner->helper[helper]);
		if (code != cudaErrorMemoryAllocation)
			return code;
		room[helper] = 0;
	}
	return cudaErrorMemoryAllocation;
}

/* Let the owner's GPU read all pieces, and each lender's GPU fill its own. */
static cudaError_t
give_access(PeerMemory *array)
{
	CUmemAccessDesc access[1 + EMOGI_MAX_HELPERS] = {};
	size_t		naccess = 1 + (size_t) array->owner->nhelpers;

	for (size_t i = 0; i < naccess; i++)
	{
		access[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
		access[i].location.id = i == 0 ? array->owner->device : array->owner->helper[i - 1]->device;
		access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
		array->readers |= UINT32_C(1) << access[i].location.id;
	}
	return runtime_code(driver.set_access(array->address, array->npieces * array->piece_bytes,
										  access, naccess));
}

/* Map all pieces. */
static cudaError_t
map_pieces(PeerMemory *array, uint64_t bytes, double own_share)
{
	const CUmemAllocationProp properties = properties_of(array->owner);
	uint64_t	room[EMOGI_MAX_HELPERS];
	size_t		unit;
	uint64_t	npieces;
	int			turn = 0;
	cudaError_t code = runtime_code(driver.granularity(&unit, &properties,
													   CU_MEM_ALLOC_GRANULARITY_MINIMUM));

	if (code != cudaSuccess)
		return code;
	array->piece_bytes = round_up((bytes + PEER_MAX_PIECES - 1) / PEER_MAX_PIECES, unit);
	npieces = (bytes + array->piece_bytes - 1) / array->piece_bytes;
	for (int i = 0; i < array->owner->nhelpers; i++)
		room[i] = can_read(array->owner, array->owner->helper[i]) ?
			lendable_bytes(array->owner->helper[i]) : 0;
	(void) cudaSetDevice(array->owner->device);
	emogi_memory_trim(array->owner, 0);
	code = runtime_code(driver.reserve(&array->address, PEER_MAX_PIECES * array->piece_bytes, 0,
									   0, 0));
	for (uint64_t i = 0; i < npieces && code == cudaSuccess; i++)
	{
		const bool	own =
			(uint64_t) ((double) (i + 1) * own_share) > (uint64_t) ((double) i * own_share);

		code = own ? map_own_piece(array) : map_lent_piece(array, room, &turn);
	}
	return code == cudaSuccess ? give_access(array) : code;
}

EmogiStatus
emogi_peer_memory_take(DeviceMemory *memory, void **out, uint64_t bytes, double own_share,
					   const char *what, EmogiError *error)
{
	PeerMemory	array = {};
	const bool	fails = memory->fail_take > 0 && --memory->fail_take == 0;
	cudaError_t code = cudaErrorMemoryAllocation;

	*out = NULL;
	if (memory->nblocks == EMOGI_MAX_BLOCKS_HELD)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "too many blocks of device memory",
								 "limit %d", EMOGI_MAX_BLOCKS_HELD);
	array.owner = memory->state;
	if (!fails && load_driver())
		code = map_pieces(&array, bytes, own_share);
	if (code == cudaSuccess && !add_array(&array))
		code = cudaErrorMemoryAllocation;
	if (code == cudaSuccess)
	{
		*out = (void *) array.address;
		memory->block[memory->nblocks] = *out;
		/* elsewhere_bytes counts whole pieces */
		memory->elsewhere_bytes[memory->nblocks] = array.elsewhere_bytes < bytes ?
			array.elsewhere_bytes : bytes;
		memory->bytes[memory->nblocks++] = bytes;
		return EMOGI_OK;
	}
	undo(&array);
	(void) cudaGetLastError();
	if (code == cudaErrorMemoryAllocation || code == cudaErrorNotSupported ||
		code == cudaErrorNotPermitted)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPUs",
								 "%s: %llu bytes of several GPUs' memory: %s", what,
								 (unsigned long long) bytes, cudaGetErrorName(code));
	return emogi_cuda_fail(error, code, "allocating memory of several GPUs");
}

/* Wait for the copies over the links of the array's GPUs. */
static EmogiStatus
wait_for_all(const PeerMemory *array, EmogiControl *control, EmogiError *error)
{
	EmogiEngineState *owner = array->owner;

	for (int i = 0; i < owner->nhelpers; i++)
		TRY(emogi_cuda_wait(owner->helper[i], control, error));
	return emogi_cuda_wait(owner, control, error);
}

/*
 * Queue the copies of an array's pieces, each over its GPU's link; wait at intervals so that a
 * cancel is noticed.
 */
static EmogiStatus
copy_pieces(const PeerMemory *array, const char *from, uint64_t bytes, EmogiControl *control,
			EmogiError *error)
{
	const int	round = 4 * (1 + array->owner->nhelpers);

	for (int i = 0; i < array->npieces; i++)
	{
		const uint64_t at = i * array->piece_bytes;
		const EmogiEngineState *lender = array->piece[i].lender;

		CUDA_TRY(cudaSetDevice(lender->device));
		CUDA_TRY(cudaMemcpyAsync((void *) (array->address + at), from + at,
								 bytes - at < array->piece_bytes ? bytes - at : array->piece_bytes,
								 cudaMemcpyHostToDevice, lender->stream));
		if (i % round == round - 1)
			TRY(wait_for_all(array, control, error));
	}
	return wait_for_all(array, control, error);
}

EmogiStatus
emogi_peer_memory_fill(EmogiEngineState *state, const void *block, const void *from, uint64_t bytes,
					   EmogiControl *control, EmogiError *error)
{
	PeerMemory	array;
	EmogiStatus status;

	if (!look_up(state, block, false, &array))
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "not memory of several GPUs", "block %p",
								 block);
	status = copy_pieces(&array, (const char *) from, bytes, control, error);
	for (int i = 0; i < state->nhelpers; i++)
		/* after an error, too, because the memory will be freed */
		(void) cudaStreamSynchronize(state->helper[i]->stream);
	(void) cudaSetDevice(state->device);
	return status;
}

bool
emogi_peer_memory_is(const EmogiEngineState *state, const void *block)
{
	PeerMemory	array;

	return look_up(state, block, false, &array);
}

bool
emogi_peer_memory_reads(const EmogiEngineState *state, const void *block,
						const EmogiEngineState *other)
{
	PeerMemory	array;

	return look_up(state, block, false, &array) && (array.readers >> other->device & 1) != 0;
}

bool
emogi_peer_memory_layout(const EmogiEngineState *state, const void *block, PeerMemoryLayout *layout)
{
	PeerMemory	array;

	if (!look_up(state, block, false, &array))
		return false;
	layout->piece_bytes = array.piece_bytes;
	layout->npieces = array.npieces;
	for (int i = 0; i < array.npieces; i++)
		layout->lender[i] = array.piece[i].lender;
	return true;
}

/* Free a block if it is peer memory; return false if it is not. */
static bool
free_peer(EmogiEngineState *state, const void *block)
{
	PeerMemory	array;

	if (!look_up(state, block, true, &array))
		return false;
	(void) cudaStreamSynchronize(state->stream);
	undo(&array);
	(void) cudaGetLastError();
	return true;
}

static bool
has_lent(const PeerMemory *array, const EmogiEngineState *lender)
{
	if (array->owner == NULL || array->owner == lender)
		return false;
	for (int i = 0; i < array->npieces; i++)
		if (array->piece[i].lender == lender)
			return true;
	return false;
}

/* Find an array for which a state lends memory and whose owner is idle, and lock the owner. */
static bool
find_lent(const EmogiEngineState *lender, EmogiEngineState **owner, const void **block)
{
	bool		found = false;

	(void) pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_PEER_ARRAYS && !found; i++)
		if (has_lent(&peer_arrays[i], lender) &&
			pthread_mutex_trylock(&peer_arrays[i].owner->at_work) == 0)
		{
			*owner = peer_arrays[i].owner;
			*block = (const void *) peer_arrays[i].address;
			found = true;
		}
	(void) pthread_mutex_unlock(&lock);
	return found;
}

/*
 * Make an idle owner drop an array for which this state lends memory; return false if there is
 * none.
 */
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
	state->free_peer = free_peer;
}
