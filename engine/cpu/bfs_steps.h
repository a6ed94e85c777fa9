/*
 * bfs_steps.h: shared declarations of bfs.c, which chooses the way to make each level, and
 * bfs_steps.c and bfs_masked_steps.c, which hold the parallel steps.
 */
#ifndef EMOGI_CPU_BFS_STEPS_H
#define EMOGI_CPU_BFS_STEPS_H

#include "contract/edge_mask.h"
#include "cpu/cpu_run.h"

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define EMOGI_BFS_ALPHA 8	/* bottom-up begins above 1/8 of the edges not yet examined */
#define EMOGI_BFS_BETA 18		/* and ends when the frontier shrinks below nvertices / 18 */
/* a frontier with more than nvertices / 64 edges is processed as a bitmap */
#define EMOGI_BFS_DENSE_SHARE 64
#define EMOGI_BFS_DENSE_ENTRIES 4096	/* but not one with fewer edges than this */
/* a queue with fewer vertices and edges is processed by the caller alone */
#define EMOGI_BFS_SERIAL_EDGES 1024
/* a longer adjacency list is processed by all threads together */
#define EMOGI_BFS_HUB_ENTRIES 16384
#define EMOGI_BFS_HUB_PIECE 8192	/* edges of a hub that a thread takes at a time */
#define EMOGI_BFS_MAX_MAPS 32	/* maximum number of threads that process a bitmap */
#define EMOGI_BFS_QUEUE_CHUNK 64	/* vertices */
#define EMOGI_BFS_WORD_CHUNK 32	/* words of a bitmap: 2048 vertices */
#define EMOGI_BFS_LOCAL_QUEUE 512	/* vertices that a thread buffers before it appends them */
#define EMOGI_BFS_MASK_SHARE 8	/* above 1/8 of the words of a mask, all are evaluated */
#define EMOGI_BFS_MANY_PASS 8	/* at least 1/8 of the edges */
#define EMOGI_BFS_PENDING 160	/* targets that a thread prefetches before it marks them */
/* costs of a masked level, in ns */
#define EMOGI_BFS_WORD_READ 2.0	/* of the bitmap */
#define EMOGI_BFS_WORD_ALONE 125.0	/* evaluated when it is read */
#define EMOGI_BFS_WORD_OF_ALL 11.0	/* evaluated with all others */
#define EMOGI_BFS_EDGE_PUSHED 2.0	/* a passing edge, top-down */
#define EMOGI_BFS_EDGE_PULLED 1.5	/* a passing edge, bottom-up, except for the first of a list */
#define EMOGI_BFS_VERTEX_PULLED 10.0	/* an unvisited vertex, bottom-up */
#define EMOGI_BFS_EDGE_CHUNK 65536	/* edges that a thread searches for sources at a time */

/* A long adjacency list that all threads process together. */
typedef struct EmogiBfsHub
{
	uint32_t	vertex;
	uint64_t	next;			/* atomic: the next piece */
} EmogiBfsHub;

/* With a mask of which few edges pass: targets to mark that a thread has prefetched. */
typedef struct EmogiBfsPending
{
	uint64_t	count;
	const uint32_t *targets[EMOGI_BFS_PENDING];
} EmogiBfsPending;

/* Counters of one thread in a level. */
typedef struct EmogiBfsTally
{
	uint64_t	nvertices;		/* entered */
	uint64_t	nedges;			/* their forward edges */
	uint64_t	nscanned;		/* edges examined */
	uint64_t	npassed;		/* with a mask: top-down, edges examined that pass */
	uint64_t	ndead;			/* with a mask: vertices to which no passing edge leads */
	char		pad[EMOGI_LINE_BYTES - 40];
} EmogiBfsTally;

/*
 * The state of a search. Between steps it belongs to the caller's thread; during a step, threads
 * write the fields marked atomic, their own tally and map, and what the step's comment says.
 */
typedef struct EmogiBfs
{
	EmogiCpuRun run;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = no bottom-up */
	uint64_t	nvertices;
	uint64_t	nwords;			/* of a bitmap */
	int32_t    *level;			/* [nvertices]; NULL = levels are counted, not written */
	int32_t		depth;			/* the level being made */
	uint64_t   *visited;		/* [nwords], all vertices that have a level or are dead, and the
								 * bits beyond nvertices */
	uint64_t   *front;			/* [nwords], the frontier if not in_queue */
	uint64_t   *next_front;		/* [nwords]; before level 0: sources without a passing edge */
	uint64_t   *maps;			/* [nmaps][nwords], the vertices each thread has marked in a
								 * dense level; zero between levels */
	int			nmaps;
	uint32_t   *queue;			/* [queue_room], the frontier if in_queue */
	uint32_t   *next_queue;		/* [queue_room] */
	uint64_t	queue_room;
	uint64_t	next_count;		/* atomic: length of next_queue */
	EmogiBfsHub *hubs;			/* [nhubs of forward.nedges / EMOGI_BFS_HUB_ENTRIES + 1] */
	uint64_t	nhubs;			/* atomic while a frontier is processed */
	EmogiBfsTally *tally;		/* [nthreads] */
	uint64_t	count;			/* vertices of the frontier */
	bool		in_queue;
	EmogiEdgeMask *mask;		/* NULL = all edges */
	EmogiMaskedLists *reverse;	/* of the mask; NULL = none, or its reverse lists cannot be read */
	EmogiBfsPending *pending;	/* [nthreads]; empty between steps */
	bool		many_pass;		/* of the edges read so far, or none has been read */
	uint64_t	nunknown;		/* atomic: sources in next_front that may have a passing edge */
} EmogiBfs;

/* Get the length of an adjacency list. */
static inline uint64_t
emogi_bfs_degree(const EmogiAdjacency *adjacency, uint64_t v)
{
	return adjacency->offsets[v + 1] - adjacency->offsets[v];
}

/* Steps: tasks of a pool, or of one thread alone; arg is the EmogiBfs. */
extern void emogi_bfs_clear(void *arg, int thread, int nthreads);
extern void emogi_bfs_push_queue(void *arg, int thread, int nthreads);
extern void emogi_bfs_push_bitmap(void *arg, int thread, int nthreads);
extern void emogi_bfs_push_hubs(void *arg, int thread, int nthreads);
extern void emogi_bfs_merge_maps(void *arg, int thread, int nthreads);
extern void emogi_bfs_pull(void *arg, int thread, int nthreads);
extern void emogi_bfs_collect_queue(void *arg, int thread, int nthreads);

/* Steps with a mask. */
extern void emogi_bfs_find_targets(void *arg, int thread, int nthreads);
extern void emogi_bfs_masked_push_queue(void *arg, int thread, int nthreads);
extern void emogi_bfs_masked_push_bitmap(void *arg, int thread, int nthreads);
extern void emogi_bfs_masked_push_hubs(void *arg, int thread, int nthreads);
extern void emogi_bfs_masked_pull(void *arg, int thread, int nthreads);

#endif							/* EMOGI_CPU_BFS_STEPS_H */
