/*
 * msbfs_steps.h: shared declarations of msbfs.c, which chooses the way to make each level,
 * msbfs_steps.c, which holds the parallel steps, and msbfs_answer.c, which converts the outcome to
 * the result's format.
 */
#ifndef EMOGI_MSBFS_STEPS_H
#define EMOGI_MSBFS_STEPS_H

#include "msbfs.h"
#include "cpu/cpu_run.h"

/* Tuned: relative costs, then the sizes of chunks. */
#define EMOGI_MSBFS_PUSH_COST 3	/* of an edge pushed, relative to one pulled */
#define EMOGI_MSBFS_SWEEP_COST 1	/* of a vertex in a pass over all vertices, likewise */
#define EMOGI_MSBFS_QUEUE_SHARE 8	/* a queue holds at most nvertices / 8 vertices */
#define EMOGI_MSBFS_QUEUE_MIN 4096		/* but at least this many */
/* a queue with fewer vertices and edges is processed by the caller alone */
#define EMOGI_MSBFS_SERIAL_EDGES 1024
/* minimum edges of the frontier's mean list per strip for which strips pay */
#define EMOGI_MSBFS_STRIP_ENTRIES 16
/*
 * fewer than nvertices / 512 visited vertices are few: less than one in each small page of their
 * words
 */
#define EMOGI_MSBFS_FEW_SHARE 512
#define EMOGI_MSBFS_KEPT_PLANES 4	/* maximum in the caller's scratch memory: levels up to 14 */
/* a longer adjacency list is processed by all threads together */
#define EMOGI_MSBFS_HUB_ENTRIES 16384
#define EMOGI_MSBFS_HUB_PIECE 8192	/* edges of a hub that a thread takes at a time */
#define EMOGI_MSBFS_STRIP 16384	/* vertices whose words one thread fills at a time: 128 KB */
/* words of 64 vertices whose lists one thread makes at a time */
#define EMOGI_MSBFS_LIST_CHUNK 512
#define EMOGI_MSBFS_ROW_CHUNK 16	/* words of 64 vertices that are converted to rows at a time */
#define EMOGI_MSBFS_QUEUE_CHUNK 64	/* vertices */
#define EMOGI_MSBFS_SWEEP_CHUNK 512	/* vertices */
#define EMOGI_MSBFS_LOCAL_QUEUE 512	/* vertices that a thread buffers before it appends them */
#define EMOGI_MSBFS_GATHER_BATCH 8		/* edges between two tests whether all bits are found */
/* prefetch distance of the words of a vertex's first neighbors, vertices */
#define EMOGI_MSBFS_PREFETCH 16

/* A long adjacency list that all threads process together. */
typedef struct EmogiMsbfsHub
{
	uint32_t	vertex;
	uint64_t	next;			/* atomic: the next piece */
} EmogiMsbfsHub;

/*
 * Counts, by source, of the vertices reached in a level, by one thread. Words are buffered until 64
 * can be transposed and counted together.
 */
typedef struct EmogiMsbfsCounter
{
	uint64_t	counts[EMOGI_MSBFS_SOURCES];
	uint64_t	words[64];
	uint64_t	nwords;			/* buffered */
	char		pad[EMOGI_LINE_BYTES - 8];
} EmogiMsbfsCounter;

/* Counters of one thread in a level. */
typedef struct EmogiMsbfsTally
{
	uint64_t	nvertices;		/* entered by a source */
	uint64_t	nedges;			/* their forward edges */
	uint64_t	nscanned;		/* edges examined */
	uint64_t	active;			/* bitmap of the sources that entered a vertex */
	uint64_t	nopen;			/* vertices that an active source has not reached; known after a
								 * pass over all vertices */
	uint64_t	open_edges;		/* their backward edges */
	EmogiMsbfsCounter *counter; /* the thread's; NULL = no sums */
	char		pad[EMOGI_LINE_BYTES - 48 - sizeof(void *)];
} EmogiMsbfsTally;

/*
 * The state of a search. Between steps it belongs to the caller's thread; during a step, threads
 * write the fields marked atomic, their own tally, and what the step's comment says.
 */
typedef struct EmogiMsbfs
{
	EmogiCpuRun run;
	EmogiResult counters;		/* for run */
	EmogiMsbfsResult *result;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = no pull steps */
	uint64_t	nvertices;
	uint64_t	nwords;			/* of a bitmap */
	bool		small_pages;	/* so few vertices will be visited that huge pages would cost
								 * more than they save */
	uint64_t   *seen;			/* [nvertices] */
	uint64_t   *front;			/* [nvertices], 0 outside the frontier */
	uint64_t   *next;			/* [nvertices], all 0 between levels unless next_dirty */
	bool		next_dirty;
	uint64_t   *planes[EMOGI_MSBFS_PLANES]; /* [nplanes][nvertices] */
	int			nplanes;
	int			max_planes;		/* that fit the caller's memory as rows */
	int			kept_planes;	/* the first kept_planes are in the caller's scratch memory, as
								 * are seen, front, next and touched */
	uint32_t	code;			/* of the level being made */
	uint64_t   *touched;		/* [nwords], bitmap of the reached vertices, valid while
								 * only_queues */
	bool		only_queues;	/* all levels so far were made from queues */
	bool		in_queue;
	bool		in_strips;		/* the frontier is in the queue, but the next one will not be */
	uint32_t   *queue;			/* [queue_room], the frontier if in_queue; some vertices may have
								 * an empty word */
	uint32_t   *next_queue;		/* [queue_room] */
	uint64_t	queue_room;
	uint64_t	count;			/* vertices of the frontier, or in the queue */
	uint64_t	next_count;		/* atomic: length of next_queue */
	EmogiMsbfsHub *hubs;		/* [nhubs], room for all long adjacency lists */
	uint64_t	nhubs;			/* atomic */
	EmogiMsbfsTally *tally;		/* [nthreads] */
	EmogiMsbfsTally total;		/* of the last level */
	EmogiMsbfsCounter *level_counts;	/* [nthreads], for sums */
	uint64_t  (*counts)[EMOGI_MSBFS_SOURCES];	/* [list chunks], vertices reached; then the
												 * positions of their lists */
	uint64_t  (*thread_counts)[EMOGI_MSBFS_SOURCES];	/* [nthreads], vertices reached in the
														 * rows that a thread makes */
} EmogiMsbfs;

/* Get the length of an adjacency list. */
static inline uint64_t
emogi_msbfs_degree(const EmogiAdjacency *adjacency, uint64_t v)
{
	return adjacency->offsets[v + 1] - adjacency->offsets[v];
}

/* Take the next chunk of [0, end); false at the end or if the job has stopped. */
static inline bool
emogi_msbfs_take(EmogiMsbfs *search, uint64_t step, uint64_t end, uint64_t *first, uint64_t *last)
{
	if (emogi_job_stopped(&search->run.job))
		return false;
	*first = emogi_job_claim(&search->run.next, step);
	if (*first >= end)
		return false;
	*last = emogi_cpu_run_chunk_end(*first, step, end);
	return true;
}

/* Count the bits of a word. */
static inline uint64_t
emogi_msbfs_count_bits(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return bits * UINT64_C(0x0101010101010101) >> 56;
}

/* Add the sources that have reached a vertex on a level to the vertex's totals. */
static inline void
emogi_msbfs_add_totals(const EmogiMsbfsTotals *totals, uint64_t v, uint64_t fresh, uint32_t level)
{
	const uint64_t count = emogi_msbfs_count_bits(fresh);

	totals->count[v] += (int64_t) count;
	totals->sum[v] += (double) (count * level);
	if (level > 0)
		totals->harmonic[v] += (double) count / (double) level;
}

/* Count the buffered words. */
extern void emogi_msbfs_count_words(EmogiMsbfsCounter *counter);

/*
 * Enter a vertex for the sources that reach it for the first time: update seen, the planes or
 * counts, and the cost estimates of the next level.
 */
static inline void
emogi_msbfs_enter(EmogiMsbfs *search, uint64_t v, uint64_t fresh, EmogiMsbfsTally *tally)
{
	search->seen[v] |= fresh;
	for (int k = 0; k < search->nplanes; k++)
	{
		if ((search->code >> k & 1) != 0)
			search->planes[k][v] |= fresh;
	}
	if (tally->counter != NULL)
	{
		tally->counter->words[tally->counter->nwords++] = fresh;
		if (tally->counter->nwords == 64)
			emogi_msbfs_count_words(tally->counter);
	}
	if (search->result->totals != NULL)
		emogi_msbfs_add_totals(search->result->totals, v, fresh, search->code - 1);
	tally->nvertices++;
	tally->nedges += emogi_msbfs_degree(&search->forward, v);
	tally->active |= fresh;
}

/* Count a vertex that some active source has not reached. */
static inline void
emogi_msbfs_count_open(EmogiMsbfs *search, uint64_t v, EmogiMsbfsTally *tally)
{
	if ((search->total.active & ~search->seen[v]) == 0)
		return;
	tally->nopen++;
	if (search->backward.offsets != NULL)
		tally->open_edges += emogi_msbfs_degree(&search->backward, v);
}

/* Steps: tasks of a pool, or of one thread alone; arg is the EmogiMsbfs. */
extern void emogi_msbfs_push_queue(void *arg, int thread, int nthreads);
extern void emogi_msbfs_push_all(void *arg, int thread, int nthreads);
extern void emogi_msbfs_push_strips(void *arg, int thread, int nthreads);
extern void emogi_msbfs_push_hubs(void *arg, int thread, int nthreads);
extern void emogi_msbfs_enter_queue(void *arg, int thread, int nthreads);
extern void emogi_msbfs_enter_all(void *arg, int thread, int nthreads);
extern void emogi_msbfs_pull(void *arg, int thread, int nthreads);
extern void emogi_msbfs_pull_hubs(void *arg, int thread, int nthreads);
extern void emogi_msbfs_clear_next(void *arg, int thread, int nthreads);
extern void emogi_msbfs_collect_queue(void *arg, int thread, int nthreads);
extern void emogi_msbfs_clean_touched(void *arg, int thread, int nthreads);
extern void emogi_msbfs_clean_all(void *arg, int thread, int nthreads);

/* Get the words of a row of the result. */
extern uint64_t emogi_msbfs_row_words(uint64_t nvertices, int nplanes);

/* Convert the planes to the result; false if the job has stopped. */
extern bool emogi_msbfs_make_answer(EmogiMsbfs *search);

/* Add the level that the threads have counted to the sums. */
extern void emogi_msbfs_add_level(EmogiMsbfs *search, uint32_t level);

#endif							/* EMOGI_MSBFS_STEPS_H */
