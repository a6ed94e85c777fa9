/*
 * gather_sweep.cuh: sweeps over all lists, for sums.
 */
#ifndef EMOGI_GATHER_SWEEP_CUH
#define EMOGI_GATHER_SWEEP_CUH

#include "cuda/placement/copy_pipeline.cuh"
#include "cuda/algorithms/gather.cuh"

typedef void (*GatherKernel) (Lists<Target> lists, Field field, Chunks chunks, Step step);

/* What a helper has. Its arrays belong to its own Run. */
typedef struct GatherHelper
{
	double	   *source;			/* [nvertices], a copy of the leader's */
	ListIndex		outline;
	CopyPipeline		feed;
	uint32_t   *piece;			/* [SPREAD_MOST_PIECES], of peer placement, those that it reads */
	Chunks		pieces;
} GatherHelper;

/* What is read, and how. The caller sets run, may_have_help, the outline and the lists, which may be others of the same chunks later. */
typedef struct GatherSweep
{
	Run		   *run;
	uint64_t	nedges;			/* list entries */
	ListIndex		outline;		/* of the lists as they are */
	Lists<Target> lists;		/* what sweeps read */
	CopyPipeline		feed;			/* how, in host and hybrid placement */
	bool		may_have_help;	/* from other GPUs */
	/* all have a CopyPipeline, of a share each; else the leader reads alone */
	bool		together;
	bool		near_each;		/* peer placement: each reads what is in its memory */
	Chunks		pieces;			/* then, what the leader reads */
	GatherHelper helper[EMOGI_MAX_HELPERS];
} GatherSweep;

/* Read the lists from now on that were made of those as they are, and are the leader's alone: what they are is the caller's to set. */
static inline void
emogi_gather_read_alone(GatherSweep *sweep)
{
	sweep->near_each = false;
}

/* Gather the helpers, if there are any, and open the Feeds of targets and `width` bytes of weight beside each. The Graph has been placed as `wants` says. */
extern EmogiStatus emogi_gather_open(GatherSweep *sweep, const EmogiGraph *graph,
									 const EmogiQuery *query, unsigned wants, uint32_t width,
									 GatherKernel kernel, EmogiError *error);

/* The part of the two that is for lists in the memory of several GPUs: the team is open, and near_each is set where it has anybody. */
extern EmogiStatus emogi_gather_open_near(GatherSweep *sweep, EmogiError *error);
extern EmogiStatus emogi_gather_sweep_near(GatherSweep *sweep, GatherKernel kernel,
										   const Field &field, EmogiError *error);

/* Read all lists once, with a kernel that takes the arguments of gather_sum_kernel; `more`: another sweep follows. */
extern EmogiStatus emogi_gather_sweep(GatherSweep *sweep, GatherKernel kernel, const Field &field,
									  bool more, EmogiError *error);

/* Count what Feeds have brought, in place of what is read without them. */
extern void emogi_gather_account(const GatherSweep *sweep, EmogiResult *result);

/* Close the Feeds, whatever has happened. */
extern void emogi_gather_close(GatherSweep *sweep);

#endif							/* EMOGI_GATHER_SWEEP_CUH */
