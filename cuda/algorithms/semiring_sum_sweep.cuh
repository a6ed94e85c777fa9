/*
 * semiring_sum_sweep.cuh: sweeps over all lists for sums, with one or several GPUs.
 */
#ifndef EMOGI_SEMIRING_SUM_SWEEP_CUH
#define EMOGI_SEMIRING_SUM_SWEEP_CUH

#include "cuda/placement/copy_pipeline.cuh"
#include "cuda/algorithms/semiring_sum.cuh"

typedef void (*GatherKernel) (Lists<Target> lists, Field field, Chunks chunks, Step step);

/* State of a helping GPU. Its own Run owns the arrays. */
typedef struct GatherHelper
{
	double	   *source;			/* [nvertices], copy of the leader's */
	ListIndex	list_index;
	CopyPipeline pipeline;
	uint32_t   *piece;			/* [PEER_MAX_PIECES], with peer placement: first chunks of the
								 * pieces that it reads */
	Chunks		pieces;
} GatherHelper;

/*
 * The lists that a sweep reads, and how. The caller sets run, may_have_help, list_index and lists;
 * it may later replace the lists by others with the same chunks.
 */
typedef struct GatherSweep
{
	Run		   *run;
	uint64_t	nedges;			/* list entries */
	ListIndex	list_index;		/* of the original lists */
	Lists<Target> lists;		/* lists that sweeps read */
	CopyPipeline pipeline;		/* pipeline of the lists, in host and hybrid placement */
	bool		may_have_help;	/* other GPUs may help */
	/* every GPU has a CopyPipeline for its share; otherwise the leader reads alone */
	bool		together;
	bool		near_each;		/* peer placement: each GPU reads the pieces in its own memory */
	Chunks		pieces;			/* with near_each: the leader's pieces */
	GatherHelper helper[EMOGI_MAX_HELPERS];
} GatherSweep;

/*
 * From now on read lists derived from the original ones, which only the leader has. The caller sets
 * them.
 */
static inline void
emogi_semiring_sum_read_on_leader(GatherSweep *sweep)
{
	sweep->near_each = false;
}

/*
 * Open the helpers' runs, if there are any, and the pipelines of targets and of `width` bytes of
 * weight a target. The graph has been placed according to `wants`.
 */
extern EmogiStatus emogi_semiring_sum_open(GatherSweep *sweep, const EmogiGraph *graph,
										   const EmogiQuery *query, unsigned wants, uint32_t width,
										   GatherKernel kernel, EmogiError *error);

/*
 * Like emogi_semiring_sum_open and emogi_semiring_sum_sweep, for lists in the memory of several
 * GPUs. The helpers' runs are open; near_each is set if there are any.
 */
extern EmogiStatus emogi_semiring_sum_open_peer(GatherSweep *sweep, EmogiError *error);
extern EmogiStatus emogi_semiring_sum_sweep_peer(GatherSweep *sweep, GatherKernel kernel,
												 const Field &field, EmogiError *error);

/*
 * Read all lists once, with a kernel that takes the arguments of gather_sum_kernel. `more`: another
 * sweep follows.
 */
extern EmogiStatus emogi_semiring_sum_sweep(GatherSweep *sweep, GatherKernel kernel,
											const Field &field, bool more, EmogiError *error);

/* Count the bytes that the pipelines copied instead of those read in place. */
extern void emogi_semiring_sum_account(const GatherSweep *sweep, EmogiResult *result);

/* Close the pipelines; also called after errors. */
extern void emogi_semiring_sum_close(GatherSweep *sweep);

#endif							/* EMOGI_SEMIRING_SUM_SWEEP_CUH */
