/*
 * device.cuh: what every file of the CUDA engine shares: the engine's state, errors, device memory, waiting.
 *
 * Rules. A function that can fail returns an EmogiStatus and fills `error`; CUDA_TRY and TRY leave it at once, so what
 * it took must belong to a holder that is freed on every path: a DeviceMemory or a PlacedGraph, which the run frees at
 * its end, or a DeviceCacheEntry, which outlives the run (device_cache.cuh). All work goes to the one stream of the state. Nobody
 * waits for work on the stream but by emogi_cuda_wait, which polls control->cancel; emogi_run leaves it idle. Once a
 * kernel has seen a cancel, those that are queued behind it in the run leave at once, too (traverse.cuh, is_halted).
 * Device memory is taken through emogi_memory_take and freed through emogi_memory_free alone, which keep the count and
 * the cap (managed memory: papers/managed.cu). It comes and goes in the order of the stream: what works on it elsewhere
 * waits for an event of the stream first, and is over before it is freed.
 */
#ifndef EMOGI_DEVICE_CUH
#define EMOGI_DEVICE_CUH

#include <pthread.h>

#include "cuda/core/device_cache.cuh"

#define EMOGI_MAX_BLOCKS_HELD 24
#define EMOGI_MAILBOX_BYTES 256
#define EMOGI_MAX_HELPERS 15

/* Written by open() alone, but for *stop and *mailbox, and what stands below them. */
struct EmogiEngineState
{
	int			device;			/* its number among those that are visible; CUDA_VISIBLE_DEVICES chooses */
	int			units;			/* multiprocessors */
	bool		registers_read_only;	/* all devices take cudaHostRegisterReadOnly */
	uint64_t	cap_bytes;		/* of taken_bytes; 0 = all that is free */
	uint64_t	shared_bytes;	/* of shared memory that a block may have */
	bool		always_bins;	/* a test wants PageRank's bins of small Graphs, too (EmogiEngineOptions) */
	int32_t		cpu_threads;	/* that a run may use */
	double		link_gbps;		/* pinned copy to the device; 0 = not measured */
	char		driver[64];
	cudaStream_t stream;
	cudaMemPool_t pool;			/* that device memory comes from; NULL = from the driver */
	uint32_t	seeing;			/* GPUs that may write there, too, bits by number */
	uint64_t	ready_bytes;	/* what may lie idle there between runs */
	cudaEvent_t begin;			/* around the kernels of a run */
	cudaEvent_t end;

	uint64_t	memory_bytes;	/* of the device */
	bool		always_help;	/* a test wants helpers in small steps, too (EmogiEngineOptions) */
	int			nhelpers;		/* other GPUs that help the next run; their states are this one's until it ends */
	EmogiEngineState *helper[EMOGI_MAX_HELPERS];

	/* One pinned block, seen by both sides: a line for `stop`, then the mailbox. */
	volatile uint32_t *stop;	/* 1 = kernels leave as soon as they can; set by emogi_cuda_wait */
	const volatile uint32_t *device_stop;	/* the same word at the device's address */
	void	   *mailbox;		/* [EMOGI_MAILBOX_BYTES], where counters of the device land */

	uint64_t	taken_bytes;	/* of device memory, by the run under way and by copies that are kept */
	uint64_t	lent_bytes;		/* atomic: of device memory, to others' arrays (peer_memory.cuh) */
	pthread_mutex_t at_work;	/* whoever uses this state holds it; see peer_memory.cuh */
	DeviceCache	residents;

	/* What gives way when memory is short, see emogi_device_cache_open. */
	uint64_t	(*idle_bytes) (const EmogiEngineState *state);
	bool		(*evict) (EmogiEngineState *state); /* false when nothing is idle */

	/* Memory of several GPUs, see emogi_peer_memory_open. */
	bool		(*reclaim) (EmogiEngineState *state);	/* what is lent; false when nothing is given back */
	bool		(*free_spread) (EmogiEngineState *state, const void *block);	/* false when it is not that */
};

/* Device memory of one run. */
typedef struct DeviceMemory
{
	EmogiEngineState *state;
	uint32_t	fail_take;		/* the take that shall fail, from 1 for the next; 0 = none (EmogiControl) */
	int			nblocks;
	void	   *block[EMOGI_MAX_BLOCKS_HELD];
	uint64_t	bytes[EMOGI_MAX_BLOCKS_HELD];
	uint64_t	elsewhere_bytes[EMOGI_MAX_BLOCKS_HELD];	/* of these, in other GPUs' memory (peer_memory.cuh) */
} DeviceMemory;

/* Leave the calling function with a status unless a CUDA call or a function of ours went well. */
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

/* Launch a kernel with so many bytes of shared memory beside those that it declares, or none. */
#define CUDA_LAUNCH_SHARED(kernel, nblocks, nthreads, bytes, stream, ...) \
	do { \
		kernel<<<(nblocks), (nthreads), (bytes), (stream)>>>(__VA_ARGS__); \
		CUDA_TRY(cudaGetLastError()); \
	} while (0)
#define CUDA_LAUNCH(kernel, nblocks, nthreads, stream, ...) CUDA_LAUNCH_SHARED(kernel, nblocks, nthreads, 0, stream, __VA_ARGS__)

/* Write an error and return its status, for `return emogi_device_fail(...)`. */
extern EmogiStatus emogi_device_fail(EmogiError *error, EmogiStatus status, const char *message, const char *detail, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for a CUDA call: out of memory is EMOGI_NO_MEMORY, all else EMOGI_DEVICE_ERROR. */
extern EmogiStatus emogi_cuda_fail(EmogiError *error, cudaError_t code, const char *what);

/* Count a call of the driver: cudaErrorUnknown when a test wants this one to fail, instead of being made. */
extern cudaError_t emogi_cuda_fault(void);

/* Have the n-th call from now on fail in this thread; 0 = none. */
extern void emogi_device_set_fault(uint32_t call);

/* Note in a result that a GPU which was to help could not, and why. */
extern void emogi_device_leave_out(EmogiResult *result, const EmogiEngineState *helper, EmogiStatus status, const EmogiError *why);

/* Wall clock in ms. */
extern double emogi_device_now_ms(void);

/* Wait until the stream is idle; EMOGI_CANCELED when control->cancel was seen, after stopping the kernels. */
extern EmogiStatus emogi_cuda_wait(EmogiEngineState *state, EmogiControl *control, EmogiError *error);

/* Copy and wait, in pieces between which cancel is polled. */
extern EmogiStatus emogi_cuda_copy(EmogiEngineState *state, void *to, const void *from, uint64_t bytes,
								   cudaMemcpyKind kind, EmogiControl *control, EmogiError *error);

/* Bring kernels to the device. */
extern EmogiStatus emogi_device_load_kernels(const void *const *kernels, size_t nkernels, EmogiError *error);

#define LOAD_KERNELS(kernels) emogi_device_load_kernels(kernels, sizeof kernels / sizeof kernels[0], error)

/*
 * Take device memory; `what` names it in the error. Bytes are whatever was there before. Evicts idle copies as far as
 * needed, so what the run reads of its Graph must be in use before.
 */
extern EmogiStatus emogi_memory_take(DeviceMemory *memory, void **out, uint64_t bytes, const char *what,
									 EmogiError *error);

/* Evict, and have what is lent given back, until the cap allows for so many bytes more; false when it cannot. */
extern bool emogi_memory_make_room(EmogiEngineState *state, uint64_t bytes);

/* Get the bytes that are lent; count bytes more, or less, as lent or as taken. */
extern uint64_t emogi_memory_lent(const EmogiEngineState *state);
extern void emogi_memory_count(EmogiEngineState *state, bool is_lent, int64_t bytes);

/* Bytes that can still be taken: what is free, idle or lent, or what the cap leaves of it, and what idle copies hold. */
extern EmogiStatus emogi_memory_left(const DeviceMemory *memory, uint64_t *bytes, EmogiError *error);

/* Make the pool of device memory; `plain`: do without. Close it, when all memory is freed. */
extern EmogiStatus emogi_memory_open(EmogiEngineState *state, bool plain, EmogiError *error);
extern void emogi_memory_close(EmogiEngineState *state);

/* Let the copy engine of another GPU write into memory of the pool; false when it cannot. */
extern bool emogi_memory_show(EmogiEngineState *state, int device);

/* Get the bytes that lie idle in the pool. */
extern EmogiStatus emogi_memory_idle(const EmogiEngineState *state, uint64_t *bytes, EmogiError *error);

/* Give back to the driver what lies idle in the pool beyond so many bytes. Waits for the stream. */
extern void emogi_memory_trim(EmogiEngineState *state, uint64_t ready_bytes);

/* Free all but the first nblocks blocks. */
extern void emogi_memory_release(DeviceMemory *memory, int nblocks);

/* Free one block of a run that needs it no more; NULL, or one that it does not hold, is no error. */
extern void emogi_memory_return(DeviceMemory *memory, const void *block);

/* Free one block that no DeviceMemory holds any more. */
extern void emogi_memory_free(EmogiEngineState *state, void *block, uint64_t bytes);

template <typename T>
static inline EmogiStatus
take_array(DeviceMemory *memory, T **out, uint64_t length, const char *what, EmogiError *error)
{
	return emogi_memory_take(memory, reinterpret_cast<void **>(out), length * sizeof(T), what, error);
}

#endif							/* EMOGI_DEVICE_CUH */
