/*
 * shared_step.cuh: other GPUs that help with a run: each reads a share of the lists over its own link.
 *
 * The run's own GPU, the leader, has all that a traversal knows. A helper has a Run of its own, in host or hybrid placement, as the leader's: offsets, and bitmaps
 * that are copied from the leader's before a step and joined into them after it. In peer placement it reads the leader's lists, and has no offsets. Vertices go round in blocks of TEAM_WORDS words of a bitmap, the leader's first; which GPU reads a
 * list makes no difference to the answer. All is queued by the leader's thread, and the steps wait for each other by events. It needs memory of a pool on
 * both sides, which each shows to the other's GPU; a GPU that cannot, or has too little memory, is left out.
 */
#ifndef EMOGI_SHARED_STEP_CUH
#define EMOGI_SHARED_STEP_CUH

#include "cuda/core/run.cuh"

#define TEAM_WORDS 1024			/* of a bitmap: 32,768 vertices, some MB of their lists; measured: the links do not mind stripes of 2 MiB */

/* A GPU that helps. */
typedef struct Helper
{
	Run			run;
	cudaEvent_t done;			/* its part of a step */
} Helper;

typedef struct SharedStep
{
	Run		   *leader;
	int			nhelpers;
	Helper		helper[EMOGI_MAX_HELPERS];
	bool		reads_spread;	/* helpers are of use in peer placement, too; the caller's to set */
	bool		offers;			/* helpers make atomic operations in the leader's memory; the caller's to set */
	cudaEvent_t ready;			/* what the leader has is what a step begins with */
	const EmogiEngineState *left_out;	/* one that was to help and could not; NULL = none */
	EmogiError	why_left_out;
} SharedStep;

/* A part of the vertices: the blocks whose number is `member` modulo `nmembers`. */
typedef struct SharedStepShare
{
	uint32_t	member;			/* 0 = the leader */
	uint32_t	nmembers;
} SharedStepShare;

/*
 * Gather the helpers of the leader's state, if it has any and reads edges over the link: each begins a Run and takes what `take` says, then places the Graph
 * as emogi_run_place does. Without any, team->nhelpers is 0. The team is the run's, once a run, after the leader has placed the Graph; its end closes it.
 */
typedef EmogiStatus (*SharedStepTake) (Run *run, void *with, int helper, EmogiError *error);

extern EmogiStatus emogi_shared_step_open(SharedStep *team, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants, const void *const *kernels,
								   size_t nkernels, uint32_t edge_bytes, SharedStepTake take, void *with, EmogiError *error);

/*
 * What a helper's part of a step begins with: bitmaps of the leader's, brought by one kernel, for to queue calls takes the leader's thread longer than
 * these take the link. All are [nwords]; `from` are the leader's.
 */
typedef struct SharedStepBring
{
	const uint32_t *vertices;	/* whose lists are read: bits of vertices ^ flip */
	uint32_t	flip;			/* 0 or all ones */
	uint32_t   *share;			/* of them, the helper's; NULL = they are not asked for */
	const uint32_t *from[2];	/* to be copied; NULL = nothing */
	uint32_t   *to[2];
} SharedStepBring;

/*
 * Begin a helper's part of a step: from now on its device is the current one, and its stream goes on when the leader's has come to emogi_shared_step_ready, with
 * what is brought, and the step's counters zeroed.
 */
extern EmogiStatus emogi_shared_step_begin_part(SharedStep *team, int helper, const SharedStepBring &bring, EmogiError *error);
extern EmogiStatus emogi_shared_step_ready(SharedStep *team, EmogiError *error);

/* End it: the leader's device is the current one. */
extern EmogiStatus emogi_shared_step_end_part(SharedStep *team, int helper, EmogiError *error);

/* Have the leader wait for it. */
extern EmogiStatus emogi_shared_step_wait(SharedStep *team, int helper, EmogiError *error);

/* Take the leader's own share of a bitmap, or of its complement. */
extern EmogiStatus emogi_shared_step_share(const SharedStep *team, const uint32_t *vertices, uint32_t flip, uint32_t *share, EmogiError *error);

/* Have the leader wait for a helper's part, and join the helper's bitmap into its own. */
extern EmogiStatus emogi_shared_step_join(SharedStep *team, int helper, uint32_t *into, const uint32_t *from, EmogiError *error);

/* Add what the helpers have counted to the result, and who was left out; the latter alone. */
extern EmogiStatus emogi_shared_step_account(SharedStep *team, EmogiResult *result, EmogiError *error);
extern void emogi_shared_step_tell_left_out(const SharedStep *team, EmogiResult *result);

/* Can a GPU make atomic operations in another's memory, while that makes them, too? Over PCIe alone it cannot. */
extern bool emogi_shared_step_may_offer(int device, int leader);

extern EmogiStatus emogi_shared_step_load(EmogiError *error);

#endif							/* EMOGI_SHARED_STEP_CUH */
