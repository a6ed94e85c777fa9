/*
 * device.cuh: the CUDA engine's common definitions: state, errors, device memory and waiting.
 *
 * Rules. A function that can fail returns an EmogiStatus and fills `error`. CUDA_TRY and TRY return
 * from it at once, so its allocations must belong to a holder that is freed on every path: a
 * DeviceMemory or a PlacedGraph, which the run frees at its end, or a DeviceCacheEntry, which
 * outlives the run (device_cache.cuh). All work is queued on the one stream of the state. Code
 * waits for the stream only through emogi_cuda_wait, which polls control->cancel; the stream is
 * idle when emogi_run returns. Once a kernel has seen a cancel, the kernels queued behind it in the
 * run return at once, too (traverse.cuh, is_halted).
 *
 * Device memory is allocated only by emogi_memory_take and freed only by emogi_memory_free, which
 * maintain the count and the cap (managed memory: papers/managed.cu). Allocation is stream-ordered:
 * work on other streams first waits for an event of this stream, and finishes before the memory is
 * freed.
 */
#ifndef EMOGI_DEVICE_CUH
#define EMOGI_DEVICE_CUH

#include <pthread.h>

#include "cuda/core/device_cache.cuh"

#define EMOGI_MAX_BLOCKS_HELD 24
#define EMOGI_MAILBOX_BYTES 256
#define EMOGI_MAX_HELPERS 15

/* Written by open() alone, except *stop, *mailbox and the fields below them. */
struct EmogiEngineState
{
	int			device;	/* number among the visible devices, which CUDA_VISIBLE_DEVICES selects */
	int			units;			/* multiprocessors */
	bool		registers_read_only;	/* all devices support cudaHostRegisterReadOnly */
	uint64_t	cap_bytes;		/* limit of taken_bytes; 0 = all free memory */
	uint64_t	shared_bytes;	/* of shared memory that a block may use */
	/* for tests: use PageRank's bins on small graphs, too (EmogiEngineOptions) */
	bool		always_bins;
	int32_t		cpu_threads;	/* threads that a run may use */
	double		link_gbps;		/* pinned copy to the device; 0 = not measured */
	char		driver[64];
	cudaStream_t stream;
	cudaMemPool_t pool;			/* source of device memory; NULL = the driver */
	uint32_t	seeing;			/* bitmap of GPUs that may write to the pool's memory, too */
	uint64_t	ready_bytes;	/* that may stay idle in the pool between runs */
	cudaEvent_t begin;			/* events around the kernels of a run */
	cudaEvent_t end;

	uint64_t	memory_bytes;	/* of the device */
	bool		always_help; /* for tests: use helpers in small steps, too (EmogiEngineOptions) */
	/* helper GPUs of the next run; their states belong to this one until it ends */
	int			nhelpers;
	EmogiEngineState *helper[EMOGI_MAX_HELPERS];

	/* One pinned block, mapped on both sides: a line for `stop`, then the mailbox. */
	volatile uint32_t *stop;	/* 1 = kernels return as soon as they can; set by emogi_cuda_wait */
	const volatile uint32_t *device_stop;	/* device address of the same word */
	void	   *mailbox;		/* [EMOGI_MAILBOX_BYTES], receives the device counters */

	uint64_t	taken_bytes;	/* of device memory, by the current run and by cached copies */
	/* atomic; of device memory, lent to arrays of other GPUs (peer_memory.cuh) */
	uint64_t	lent_bytes;
	pthread_mutex_t at_work;	/* held by every user of this state; see peer_memory.cuh */
	DeviceCache	residents;

	/* Callbacks for memory shortage, set by emogi_device_cache_open. */
	uint64_t	(*idle_bytes) (const EmogiEngineState *state);
	bool		(*evict) (EmogiEngineState *state);	/* false = nothing is idle */

	/* Peer memory, set by emogi_peer_memory_open. */
	/* lent memory; false = nothing was given back */
	bool		(*reclaim) (EmogiEngineState *state);
	/* false = the block is not in peer memory */
	bool		(*free_peer) (EmogiEngineState *state, const void *block);
};

/* Device memory of one run. */
typedef struct DeviceMemory
{
	EmogiEngineState *state;
	/* for tests: the allocation to fail, 1 = the next; 0 = none (EmogiControl) */
	uint32_t	fail_take;
	int			nblocks;
	void	   *block[EMOGI_MAX_BLOCKS_HELD];
	uint64_t	bytes[EMOGI_MAX_BLOCKS_HELD];
	/* of these, in other GPUs' memory (peer_memory.cuh) */
	uint64_t	elsewhere_bytes[EMOGI_MAX_BLOCKS_HELD];
} DeviceMemory;

/*
 * Return from the calling function with a status unless a CUDA call or an engine function succeeds.
 */
#define CUDA_TRY(call) \
	do { \
		cudaError_t code_ = emogi_cuda_fault(); \
		if (code_ == cudaSuccess) \
			code_ = (call); \
		if (code_ != cudaSuccess) \
			return emogi_cuda_fail(error, code_, #call); \
	} while (0)

#define TRY(call) \
	do { \
		EmogiStatus status_ = (call); \
		if (status_ != EMOGI_OK) \
			return status_; \
	} while (0)

/* Launch a kernel, with `bytes` of dynamic shared memory or with none. */
#define CUDA_LAUNCH_SHARED(kernel, nblocks, nthreads, bytes, stream, ...) \
	do { \
		kernel<<<(nblocks), (nthreads), (bytes), (stream)>>>(__VA_ARGS__); \
		CUDA_TRY(cudaGetLastError()); \
	} while (0)
#define CUDA_LAUNCH(kernel, nblocks, nthreads, stream, ...) \
	CUDA_LAUNCH_SHARED(kernel, nblocks, nthreads, 0, stream, __VA_ARGS__)

/* Write an error and return its status, for `return emogi_device_fail(...)`. */
extern EmogiStatus emogi_device_fail(EmogiError *error, EmogiStatus status, const char *message,
									 const char *detail, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Fill an error from a CUDA call: out of memory is EMOGI_NO_MEMORY, everything else
 * EMOGI_DEVICE_ERROR.
 */
extern EmogiStatus emogi_cuda_fail(EmogiError *error, cudaError_t code, const char *what);

/*
 * Count a driver call for fault injection: return cudaErrorUnknown if a test wants this call to
 * fail instead of being made.
 */
extern cudaError_t emogi_cuda_fault(void);

/* Make the n-th driver call from now on fail in this thread; 0 = none. */
extern void emogi_device_set_fault(uint32_t call);

/* Note in a result that a helper GPU was left out, and why. */
extern void emogi_device_exclude_helper(EmogiResult *result, const EmogiEngineState *helper,
										EmogiStatus status, const EmogiError *why);

/* Return the wall clock in ms. */
extern double emogi_device_now_ms(void);

/*
 * Wait until the stream is idle. If control->cancel is set, stop the kernels and return
 * EMOGI_CANCELED.
 */
extern EmogiStatus emogi_cuda_wait(EmogiEngineState *state, EmogiControl *control,
								   EmogiError *error);

/* Copy and wait, in pieces, polling cancel between the pieces. */
extern EmogiStatus emogi_cuda_copy(EmogiEngineState *state, void *to, const void *from,
								   uint64_t bytes, cudaMemcpyKind kind, EmogiControl *control,
								   EmogiError *error);

/* Return the number of elements of an array. */
#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Allocate device memory, uninitialized; `what` names it in the error. This evicts idle copies as
 * needed, so the run must first mark the copies that it reads of its graph as in use.
 */
extern EmogiStatus emogi_memory_take(DeviceMemory *memory, void **out, uint64_t bytes,
									 const char *what, EmogiError *error);

/*
 * Evict idle copies and reclaim lent memory until the cap allows `bytes` more; return false if that
 * is impossible.
 */
extern bool emogi_memory_make_room(EmogiEngineState *state, uint64_t bytes);

/*
 * Return the lent bytes; add to the count of lent or of taken bytes, which may be a negative
 * number.
 */
extern uint64_t emogi_memory_lent(const EmogiEngineState *state);
extern void emogi_memory_count(EmogiEngineState *state, bool is_lent, int64_t bytes);

/*
 * Get the bytes that can still be allocated: free, idle and lent memory, limited by the cap, plus
 * the bytes of idle copies.
 */
extern EmogiStatus emogi_memory_left(const DeviceMemory *memory, uint64_t *bytes,
									 EmogiError *error);

/*
 * Create the pool of device memory, or none if `plain`. Close it after all memory has been freed.
 */
extern EmogiStatus emogi_memory_open(EmogiEngineState *state, bool plain, EmogiError *error);
extern void emogi_memory_close(EmogiEngineState *state);

/* Let the copy engine of another GPU write to the pool's memory; return false if it cannot. */
extern bool emogi_memory_show(EmogiEngineState *state, int device);

/* Get the bytes that are idle in the pool. */
extern EmogiStatus emogi_memory_idle(const EmogiEngineState *state, uint64_t *bytes,
									 EmogiError *error);

/* Give idle memory of the pool beyond ready_bytes back to the driver. Waits for the stream. */
extern void emogi_memory_trim(EmogiEngineState *state, uint64_t ready_bytes);

/* Free all but the first nblocks blocks. */
extern void emogi_memory_release(DeviceMemory *memory, int nblocks);

/*
 * Free one block that a run no longer needs; NULL, or a block that the run does not hold, is
 * ignored.
 */
extern void emogi_memory_return(DeviceMemory *memory, const void *block);

/* Free one block that no longer belongs to a DeviceMemory. */
extern void emogi_memory_free(EmogiEngineState *state, void *block, uint64_t bytes);

template <typename T>
static inline EmogiStatus
take_array(DeviceMemory *memory, T **out, uint64_t length, const char *what, EmogiError *error)
{
	return emogi_memory_take(memory, reinterpret_cast<void **>(out), length * sizeof(T), what,
							 error);
}

#endif							/* EMOGI_DEVICE_CUH */
