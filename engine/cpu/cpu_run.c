/*
 * cpu_run.c: state common to all runs of the CPU engine: the job, its steps over a pool, and its
 * scratch memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/cpu_run.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* a graph with fewer vertices + edges is not worth waking other threads */
#define SERIAL_GRAPH 16384
/* arrays of at least this size use huge pages, because they are read in random order */
#define HUGE_BYTES ((size_t) 2 << 20)

#define REUSED_BLOCKS 2
#define REUSED_BYTES ((size_t) 512 << 20)	/* a larger block is unmapped */

/* Memory that runs have left for later runs. */
static struct
{
	pthread_mutex_t lock;
	void	   *memory[REUSED_BLOCKS];	/* NULL = none */
	size_t		bytes[REUSED_BLOCKS];
}			reused = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
emogi_cpu_run_begin(EmogiCpuRun *run, EmogiPool *pool, const EmogiGraph *graph, uint64_t total,
					EmogiResult *result, EmogiControl *control, EmogiError *error, const char *what)
{
	EmogiResult cleared = {0};

	memcpy(cleared.columns, result->columns, sizeof(cleared.columns));
	*result = cleared;
	*run = (EmogiCpuRun) {.job = {.control = control}, .pool = pool, .result = result,
		.error = error, .what = what};
	run->serial = graph->nvertices + graph->forward.nedges < SERIAL_GRAPH;
	run->start_ms = emogi_pool_now_ms();
	emogi_job_phase(&run->job, EMOGI_PHASE_RUN, total);
	control->level = 0;
	error->message[0] = error->detail[0] = '\0';
}

/* Record a mapping to be released at the end of the run, and return it. */
static void *
hold_memory(EmogiCpuRun *run, void *memory, size_t bytes, bool is_reused)
{
	run->memory[run->nmappings] = memory;
	run->memory_bytes[run->nmappings] = bytes;
	run->is_reused[run->nmappings++] = is_reused;
	return memory;
}

/* Map memory to be released at the end of the run; NULL if out of memory. */
static void *
map_pages(EmogiCpuRun *run, size_t bytes)
{
	void	   *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
							  0);

	return memory == MAP_FAILED ? NULL : hold_memory(run, memory, bytes, false);
}

/* Map memory, or return NULL if a test makes this allocation fail. */
static void *
map(EmogiCpuRun *run, size_t bytes)
{
	return emogi_job_may_allocate(&run->job) ? map_pages(run, bytes) : NULL;
}

void *
emogi_cpu_run_map(EmogiCpuRun *run, size_t bytes)
{
	void	   *memory = map(run, bytes);

	if (memory == NULL)
	{
		snprintf(run->error->detail, sizeof(run->error->detail), "%llu bytes of scratch memory",
				 (unsigned long long) bytes);
		emogi_job_fail(&run->job, EMOGI_NO_MEMORY);
	}
	return memory;
}

/* Get the number of bytes that an array takes as scratch memory. */
static size_t
scratch_bytes(uint64_t count, size_t element_bytes)
{
	const bool	fits = count <= (SIZE_MAX / 2 - EMOGI_LINE_BYTES) / element_bytes;
	const size_t bytes = fits ? (size_t) count * element_bytes + EMOGI_LINE_BYTES : SIZE_MAX / 2;

	return bytes < HUGE_BYTES ? bytes : bytes + HUGE_BYTES; /* so that the array can begin at a
															 * huge page */
}

/* Get the address at which an array begins in a mapping of so many bytes. */
static void *
begin_array(char *memory, size_t bytes)
{
	return memory == NULL || bytes < 2 * HUGE_BYTES ? memory
		: memory + HUGE_BYTES - (uintptr_t) memory % HUGE_BYTES;
}

/* Get the array in a mapping made for it; NULL if memory is NULL. */
static void *
map_array(void *memory, size_t bytes)
{
	if (memory != NULL && bytes >= 2 * HUGE_BYTES)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return begin_array(memory, bytes);
}

void *
emogi_cpu_run_scratch(EmogiCpuRun *run, uint64_t count, size_t element_bytes)
{
	const size_t bytes = scratch_bytes(count, element_bytes);

	return map_array(emogi_cpu_run_map(run, bytes), bytes);
}

/* ---- memory left for later runs ---- */

/*
 * Take the smallest block of at least *bytes that another run has left, and set *bytes to its size;
 * NULL if there is none.
 */
static void *
take_reused(size_t *bytes)
{
	void	   *memory = NULL;
	int			best = -1;

	pthread_mutex_lock(&reused.lock);
	for (int i = 0; i < REUSED_BLOCKS; i++)
		if (reused.memory[i] != NULL && reused.bytes[i] >= *bytes &&
			(best < 0 || reused.bytes[i] < reused.bytes[best]))
			best = i;
	if (best >= 0)
	{
		memory = reused.memory[best];
		*bytes = reused.bytes[best];
		reused.memory[best] = NULL;
	}
	pthread_mutex_unlock(&reused.lock);
	return memory;
}

/*
 * Leave a block for later runs. If all places are taken, it replaces the smallest block. Returns
 * the block to unmap, NULL = none.
 */
static void *
lend(void *memory, size_t *bytes)
{
	int			place = 0;
	void	   *left;
	size_t		left_bytes;

	if (*bytes > REUSED_BYTES || madvise(memory, *bytes, MADV_FREE) != 0)
		return memory;
	pthread_mutex_lock(&reused.lock);
	for (int i = 1; i < REUSED_BLOCKS && reused.memory[place] != NULL; i++)
		if (reused.memory[i] == NULL || reused.bytes[i] < reused.bytes[place])
			place = i;
	left = reused.memory[place];
	left_bytes = reused.bytes[place];
	reused.memory[place] = memory;
	reused.bytes[place] = *bytes;
	pthread_mutex_unlock(&reused.lock);
	*bytes = left_bytes;
	return left;
}

void *
emogi_cpu_run_borrow(EmogiCpuRun *run, uint64_t count, size_t element_bytes)
{
	size_t		bytes = scratch_bytes(count, element_bytes);
	void	   *memory = NULL;

	if (bytes < 2 * HUGE_BYTES)
		return emogi_cpu_run_scratch(run, count, element_bytes);
	if (emogi_job_may_allocate(&run->job))
		memory = take_reused(&bytes);
	else
		emogi_job_fail(&run->job, EMOGI_NO_MEMORY);
	if (memory != NULL)
		return begin_array(hold_memory(run, memory, bytes, true), bytes);
	memory = emogi_job_stopped(&run->job) ? NULL : emogi_cpu_run_scratch(run, count, element_bytes);
	if (memory != NULL)
		run->is_reused[run->nmappings - 1] = true;
	return memory;
}

void *
emogi_cpu_run_spare(EmogiCpuRun *run, uint64_t count, size_t element_bytes)
{
	size_t		bytes = scratch_bytes(count, element_bytes);
	void	   *memory = NULL;

	if (bytes > run->job.control->spare_bytes - run->spared_bytes)
		return NULL;
	run->spared_bytes += bytes;
	if (bytes < 2 * HUGE_BYTES)
		return map_array(map(run, bytes), bytes);
	if (!emogi_job_may_allocate(&run->job))
		return NULL;
	memory = take_reused(&bytes);
	if (memory != NULL)
		return begin_array(hold_memory(run, memory, bytes, true), bytes);
	memory = map_array(map_pages(run, bytes), bytes);
	if (memory != NULL)
		run->is_reused[run->nmappings - 1] = true;
	return memory;
}

bool
emogi_cpu_run_step(EmogiCpuRun *run, EmogiPoolTask step, void *arg, bool serial)
{
	if (emogi_job_stopped(&run->job))
		return false;
	run->next = 0;
	if (serial || run->serial)
		step(arg, 0, 1);
	else
		emogi_pool_run(run->pool, step, arg);
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_cpu_run_end(EmogiCpuRun *run)
{
	EmogiStatus status = (EmogiStatus) run->job.status;

	for (int i = 0; i < run->nmappings; i++)
	{
		void	   *memory = run->is_reused[i] ? lend(run->memory[i], &run->memory_bytes[i])
			: run->memory[i];

		if (memory != NULL)
			munmap(memory, run->memory_bytes[i]);
	}
	if (status == EMOGI_NO_MEMORY)
		snprintf(run->error->message, sizeof(run->error->message),
				 "out of memory while computing %s", run->what);
	run->result->run_ms = emogi_pool_now_ms() - run->start_ms;
	return status;
}
