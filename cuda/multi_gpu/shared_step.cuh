/*
 * shared_step.cuh: multi-GPU steps: helper GPUs that each read a share of the adjacency lists over
 * their own link.
 *
 * The run's own GPU, the leader, has the complete state of the traversal. A helper has a Run of its
 * own, in host or hybrid placement, like the leader's: offsets, and bitmaps that are copied from
 * the leader's before a step and merged into them after it. In peer placement it reads the leader's
 * lists, and has no offsets. Vertices are assigned to the members round-robin, in blocks of
 * SHARED_WORDS words of a bitmap, the first block to the leader; which GPU reads a list does not
 * affect the result. The leader's thread queues all work, and the steps wait for each other by
 * events. Both sides need memory of a pool, which each makes accessible to the other's GPU; a GPU
 * that cannot do this, or has too little memory, is left out.
 */
#ifndef EMOGI_SHARED_STEP_CUH
#define EMOGI_SHARED_STEP_CUH

#include "cuda/core/run.cuh"

/*
 * of a bitmap: 32,768 vertices, some MB of their lists; measured: stripes of 2 MiB do not slow the
 * links
 */
#define SHARED_WORDS 1024

/* A helper GPU. */
typedef struct Helper
{
	Run			run;
	cudaEvent_t done;			/* its share of a step has finished */
} Helper;

typedef struct SharedStep
{
	Run		   *leader;
	int			nhelpers;
	Helper		helper[EMOGI_MAX_HELPERS];
	bool		reads_peers;	/* helpers are useful in peer placement, too; set by the caller */
	/* helpers perform atomic operations in the leader's memory; set by the caller */
	bool		offers;
	cudaEvent_t ready;			/* the leader's state is complete for a step to begin */
	const EmogiEngineState *left_out;	/* a helper that had to be left out; NULL = none */
	EmogiError	why_left_out;
} SharedStep;

/* A share of the vertices: the blocks whose number is `member` modulo `nmembers`. */
typedef struct SharedStepShare
{
	uint32_t	member;			/* 0 = the leader */
	uint32_t	nmembers;
} SharedStepShare;

/*
 * Set up the helpers of the leader's state, if it has any and reads edges over the link: each opens
 * a Run, calls `take` to allocate memory, then places the graph as emogi_run_place does. Without
 * helpers, nhelpers is 0. The SharedStep belongs to the run; it is opened once per run, after the
 * leader has placed the graph, and is closed at the end of the run.
 */
typedef EmogiStatus (*SharedStepAllocate) (Run *run, void *with, int helper, EmogiError *error);

extern EmogiStatus emogi_shared_step_open(SharedStep *shared, const EmogiGraph *graph,
										  const EmogiQuery *query, unsigned wants,
										  const void *const *kernels, size_t nkernels,
										  uint32_t edge_bytes, SharedStepAllocate take, void *with,
										  EmogiError *error);

/*
 * Inputs of a helper's share of a step: bitmaps of the leader. One kernel copies them: queueing
 * separate copies costs more host time than the transfers. All are [nwords]; `from` are the
 * leader's.
 */
typedef struct SharedStepInput
{
	const uint32_t *vertices;	/* the lists to read: bits of vertices ^ flip */
	uint32_t	flip;			/* 0 or all ones */
	uint32_t   *share;			/* the helper's share of them; NULL = not wanted */
	const uint32_t *from[2];	/* to be copied; NULL = none */
	uint32_t   *to[2];
} SharedStepInput;

/*
 * Begin a helper's share of a step. From now on its device is the current one, and its stream
 * continues after the leader's stream has passed emogi_shared_step_ready, with the inputs copied
 * and the step's counters zeroed.
 */
extern EmogiStatus emogi_shared_step_begin_part(SharedStep *shared, int helper,
												const SharedStepInput &bring, EmogiError *error);
extern EmogiStatus emogi_shared_step_ready(SharedStep *shared, EmogiError *error);

/* End it: the leader's device is the current one. */
extern EmogiStatus emogi_shared_step_end_part(SharedStep *shared, int helper, EmogiError *error);

/* Make the leader wait for the helper's share. */
extern EmogiStatus emogi_shared_step_wait(SharedStep *shared, int helper, EmogiError *error);

/* Compute the leader's own share of a bitmap, or of its complement. */
extern EmogiStatus emogi_shared_step_share(const SharedStep *shared, const uint32_t *vertices,
										   uint32_t flip, uint32_t *share, EmogiError *error);

/* Make the leader wait for a helper's share, and merge the helper's bitmap into its own. */
extern EmogiStatus emogi_shared_step_join(SharedStep *shared, int helper, uint32_t *into,
										  const uint32_t *from, EmogiError *error);

/*
 * Add the helpers' counters and a left-out helper to the result; the second function adds the
 * latter only.
 */
extern EmogiStatus emogi_shared_step_account(SharedStep *shared, EmogiResult *result,
											 EmogiError *error);
extern void emogi_shared_step_report_left_out(const SharedStep *shared, EmogiResult *result);

/*
 * Return whether a GPU can perform atomic operations in another's memory that are atomic with that
 * GPU's own. Over PCIe alone it cannot.
 */
extern bool emogi_shared_step_has_peer_atomics(int device, int leader);

#endif							/* EMOGI_SHARED_STEP_CUH */
