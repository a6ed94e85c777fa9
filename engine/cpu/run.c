/*
 * run.c: what every run of the cpu engine begins and ends with: its job, its steps over a pool, its scratch memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "run.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ALONE_GRAPH 16384		/* a Graph with fewer vertices and entries is not worth waking anyone */
#define HUGE_BYTES ((size_t) 2 << 20)	/* arrays of this size lie in huge pages: they are read in random order */

void
emogi_run_begin(EmogiCpuRun *run, EmogiPool *pool, const EmogiGraph *graph, uint64_t total, EmogiResult *result,
				EmogiControl *control, EmogiError *error, const char *what)
{
	EmogiResult cleared = {0};

	memcpy(cleared.columns, result->columns, sizeof(cleared.columns));
	*result = cleared;
	*run = (EmogiCpuRun) {.job = {.control = control}, .pool = pool, .result = result, .error = error, .what = what};
	run->alone = graph->nvertices + graph->forward.nedges < ALONE_GRAPH;
	run->start_ms = emogi_pool_now_ms();
	emogi_job_phase(&run->job, EMOGI_PHASE_RUN, total);
	control->level = 0;
	error->message[0] = error->detail[0] = '\0';
}

/* Map memory that belongs to the run; NULL when there is none. */
static void *
map(EmogiCpuRun *run, size_t bytes)
{
	void	   *memory = MAP_FAILED;

	if (emogi_job_may_allocate(&run->job))
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	run->memory[run->nmappings] = memory;
	run->memory_bytes[run->nmappings++] = bytes;
	return memory;
}

void *
emogi_run_map(EmogiCpuRun *run, size_t bytes)
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

/* Get the bytes to map for an array, so that it can begin on a huge page if it is large. */
static size_t
array_bytes(uint64_t count, size_t element_bytes)
{
	const bool	fits = count <= (SIZE_MAX / 2 - EMOGI_LINE_BYTES) / element_bytes;
	size_t		bytes = fits ? (size_t) count * element_bytes + EMOGI_LINE_BYTES : SIZE_MAX / 2;

	return bytes >= HUGE_BYTES ? bytes + HUGE_BYTES : bytes;
}

/* Get the array in a mapping of array_bytes. */
static void *
array_in(char *memory, size_t bytes)
{
	if (memory == NULL || bytes < HUGE_BYTES)
		return memory;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory + HUGE_BYTES - (uintptr_t) memory % HUGE_BYTES;
}

void *
emogi_run_scratch(EmogiCpuRun *run, uint64_t count, size_t element_bytes)
{
	size_t		bytes = array_bytes(count, element_bytes);

	return array_in(emogi_run_map(run, bytes), bytes);
}

void *
emogi_run_spare(EmogiCpuRun *run, uint64_t count, size_t element_bytes)
{
	size_t		bytes = array_bytes(count, element_bytes);

	if (bytes > run->job.control->spare_bytes - run->spared_bytes)
		return NULL;
	run->spared_bytes += bytes;
	return array_in(map(run, bytes), bytes);
}

bool
emogi_run_step(EmogiCpuRun *run, EmogiPoolTask step, void *arg, bool alone)
{
	if (emogi_job_stopped(&run->job))
		return false;
	run->next = 0;
	if (alone || run->alone)
		step(arg, 0, 1);
	else
		emogi_pool_run(run->pool, step, arg);
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_run_end(EmogiCpuRun *run)
{
	EmogiStatus status = (EmogiStatus) run->job.status;

	for (int i = 0; i < run->nmappings; i++)
		munmap(run->memory[i], run->memory_bytes[i]);
	if (status == EMOGI_NO_MEMORY)
		snprintf(run->error->message, sizeof(run->error->message), "out of memory while computing %s", run->what);
	run->result->run_ms = emogi_pool_now_ms() - run->start_ms;
	return status;
}
