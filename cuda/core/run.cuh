/*
 * run.cuh: one run of one algorithm: setup, counters and timing that all algorithms share.
 */
#ifndef EMOGI_RUN_CUH
#define EMOGI_RUN_CUH

#include <stddef.h>

#include "cuda/access/traverse.cuh"

typedef uint32_t Target;

/*
 * A run. What it allocates belongs to `memory` and `graph`, which emogi_run frees on every path, or
 * to the DeviceCacheEntry.
 */
struct SharedStep;

typedef struct Run
{
	EmogiEngineState *state;
	EmogiControl *control;
	uint32_t	devices;		/* the EmogiQuery's */
	DeviceMemory memory;
	PlacedGraph graph;
	uint64_t	nvertices;		/* > 0 */
	uint64_t	nwords;			/* of a bitmap over the vertices */
	Step		step;
	int			nblocks;		/* of kernels that read edges */
	int			full_blocks;	/* of kernels that do not */
	struct SharedStep *shared_step;	/* of helper GPUs; NULL = this run uses one GPU */
	/* called at the end of the run; NULL = no helper took part */
	void		(*close_shared_step) (struct SharedStep *shared_step);
	/* result columns, [nvertices] each, if aggregates of them are requested */
	const void *columns[EMOGI_MAX_COLUMNS];
} Run;

/*
 * The interface of an algorithm: a function that places the graph, runs, and fills the result;
 * run_ms is measured by start_clock and stop_clock. On entry run->step is allocated, all counters
 * of the result are 0, the sources are valid vertices, and an iterative algorithm has at least one
 * iteration.
 */
typedef EmogiStatus (RunFunction) (Run *run, const EmogiGraph *graph, const EmogiQuery *query,
								   EmogiResult *result, EmogiError *error);
typedef RunFunction *RunAlgorithm;

/*
 * Run a checked query. Free everything on every path, except what the device cache keeps of the
 * graph (device_cache.cuh).
 */
extern EmogiStatus emogi_run(EmogiEngineState *state, RunAlgorithm algorithm,
							 const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
							 EmogiControl *control, EmogiError *error);

/*
 * Begin and end a run: the parts of emogi_run that a helper GPU needs, too. No kernel may be active
 * when a run is closed.
 */
extern EmogiStatus emogi_run_open(Run *run, EmogiEngineState *state, const EmogiGraph *graph,
								  const EmogiQuery *query, EmogiControl *control,
								  EmogiError *error);
extern void emogi_run_close(Run *run);

/*
 * Place the graph, and choose the grid sizes for those kernels, which read `edge_bytes` of the
 * graph per edge.
 */
extern EmogiStatus emogi_run_place(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
								   unsigned wants, const void *const *kernels, size_t nkernels,
								   uint32_t edge_bytes, EmogiError *error);

/* Choose the grid sizes for a graph that is already placed. */
extern EmogiStatus emogi_run_size_grids(Run *run, const EmogiGraph *graph,
										const void *const *kernels, size_t nkernels,
										uint32_t edge_bytes, EmogiError *error);

/* Zero the device counters of one step, or all device counters; a halt stays. */
extern EmogiStatus emogi_run_begin_step(Run *run, EmogiError *error);
extern EmogiStatus emogi_run_clear(Run *run, EmogiError *error);

/* Wait for the device and get its counters. */
extern EmogiStatus emogi_run_read(Run *run, const Counters **counters, EmogiError *error);

/*
 * Time the work between the two calls. Stop waits for that work and adds its time to
 * result->run_ms.
 */
extern EmogiStatus emogi_run_start_clock(Run *run, EmogiError *error);
extern EmogiStatus emogi_run_stop_clock(Run *run, EmogiResult *result, EmogiError *error);

/* Copy an array to and from the device. */
static inline EmogiStatus
emogi_run_send(Run *run, void *to, const void *from, uint64_t bytes, EmogiError *error)
{
	return emogi_cuda_copy(run->state, to, from, bytes, cudaMemcpyHostToDevice, run->control,
						   error);
}

static inline EmogiStatus
emogi_run_fetch(Run *run, void *to, const void *from, uint64_t bytes, EmogiError *error)
{
	return emogi_cuda_copy(run->state, to, from, bytes, cudaMemcpyDeviceToHost, run->control,
						   error);
}

/*
 * Deliver column i of the result, [nvertices] in the run's device memory: copy it to the result
 * now, or leave it for the aggregates.
 */
extern EmogiStatus emogi_run_give(Run *run, const EmogiQuery *query, EmogiResult *result, int i,
								  const void *column, EmogiError *error);

/* Add the lines and edges that the device counted to the result. */
extern void emogi_run_account(const Run *run, const Counters *counters, EmogiResult *result);

/* Read the counters, and add them. */
extern EmogiStatus emogi_run_account_read(Run *run, EmogiResult *result, EmogiError *error);

/* Algorithms outside the semirings, then one for each semiring. */
#define OTHER(NAME, name, cpu, cuda, ...) extern RunFunction emogi_cuda_##cuda;
EMOGI_ALGORITHMS(OTHER, EMOGI_NOTHING, EMOGI_NOTHING)
#undef OTHER
extern RunFunction emogi_cuda_path;
extern RunFunction emogi_cuda_semiring_sum;

/* Check whether the runs of a query use other GPUs. */
extern bool emogi_closeness_uses_helpers(const EmogiGraph *graph, const EmogiQuery *query);
extern bool emogi_semiring_sum_may_use_helpers(const EmogiGraph *graph, const EmogiQuery *query);
extern bool emogi_betweenness_uses_helpers(const EmogiGraph *graph, const EmogiQuery *query);

/*
 * Run a BFS that leaves the levels on the device: (*level)[nvertices], allocated from run->memory.
 * It places the graph, so the caller allocates everything else first. It fills the result's
 * counters.
 */
extern EmogiStatus emogi_cuda_levels(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									 unsigned wants, int64_t max_depth, int32_t **level,
									 EmogiResult *result, EmogiError *error);

/*
 * Run one BFS per source, placing the graph once: next(run, with, &i, &is_there) chooses among the
 * query's sources; use(run, with, i, level, nlevels, result) receives the levels of that source and
 * may clear the run's counters. All of it is timed.
 */
typedef EmogiStatus (*NextSource) (Run *run, void *with, uint64_t *i, bool *is_there,
								   EmogiError *error);
typedef EmogiStatus (*UseLevels) (Run *run, void *with, uint64_t i, const int32_t *level,
								  uint32_t nlevels, EmogiResult *result, EmogiError *error);

extern EmogiStatus emogi_cuda_levels_each(Run *run, const EmogiGraph *graph,
										  const EmogiQuery *query, unsigned wants, NextSource next,
										  UseLevels use, void *with, EmogiResult *result,
										  EmogiError *error);

/*
 * Run a BFS from vertices that are chosen after the graph has been placed: find(run, with, &sources
 * in device memory, &nsources, result). The clock keeps running on return, and the counters are 0.
 */
typedef EmogiStatus (*FindSources) (Run *run, void *with, uint32_t **sources, uint64_t *nsources,
									EmogiResult *result, EmogiError *error);

extern EmogiStatus emogi_cuda_levels_found(Run *run, const EmogiGraph *graph,
										   const EmogiQuery *query, FindSources find, void *with,
										   int32_t **level, EmogiResult *result, EmogiError *error);

/*
 * Find the components of a graph that has been placed: component[nvertices], the smallest vertex of
 * each; `marked`, a bitmap, is work space.
 */
extern EmogiStatus emogi_cuda_components(Run *run, uint32_t *component, uint32_t *marked,
										 EmogiError *error);

#endif							/* EMOGI_RUN_CUH */
