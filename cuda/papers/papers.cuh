/*
 * papers.cuh: the papers' systems beside the engine's own kernels, for comparison: definitions that
 * their runs share.
 *
 *   mapping                 threads per vertex                                    from
 *   THREAD, WARP, ALIGNED   one; a warp; a warp from the start of a line          [1, section 4.3]
 *   VIRTUAL2 .. VIRTUAL16   a virtual warp of that many lanes                     [2, section 3]
 *   DEGREE_CUT              one per CUT_DEGREE edges, which it prefetches         [3]
 *   SHARDS, WINDOWS         see shards.cuh                                        [4]
 *
 * All run the same vertex-centric loop, as the papers' systems do: an iteration reads all lists of
 * the active vertices, without buckets, direction switching, sampling or any other technique by
 * which the engine's own kernels read fewer edges. Active vertices are marked in a bitmap, from
 * which the iteration's Items are listed. A mapping is a kernel over Items (mapping.cuh), and an
 * application is a small struct Work whose functions the kernel calls (relax.cu, semiring_sums.cu,
 * path_counts.cu). So a mapping runs every application, and an application has every mapping. The
 * placements MANAGED (managed.cu) and STAGED (staged.cuh) exist only here.
 *
 * [1] S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu: EMOGI: Efficient
 *     Memory-access for Out-of-memory Graph-traversal in GPUs. PVLDB 14(2), 2020.
 * [2] S. Hong, S. K. Kim, T. Oguntebi, K. Olukotun: Accelerating CUDA Graph Algorithms at Maximum
 *     Warp. PPoPP 2011.
 * [3] P. Wang, L. Zhang, C. Li, M. Guo: Excavating the Potential of GPU for Accelerating Graph
 *     Traversal. IPDPS 2019 (EtaGraph: unified degree cut, shared memory prefetch).
 * [4] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 *     GPUs. HPDC 2014.
 */
#ifndef EMOGI_PAPERS_CUH
#define EMOGI_PAPERS_CUH

#include "cuda/core/run.cuh"

/*
 * Tuned constants of the mappings, of bc1d508. bench/PAPERS.md has the figures of an NVIDIA H200 at
 * b47e0c8 with these values.
 */
#define CUT_DEGREE 16			/* maximum neighbors of a shadow vertex: K of [3] */
/* per block of the degree cut: what it prefetches must fit in shared memory */
#define CUT_THREADS 128
#define TICKET_ROUNDS 4	/* per ticket, each of as many items as a warp processes at once; 1 to 8 */
/* that a lane reads of a list between two polls of cancel: some ms over the link */
#define ENTRIES_PER_CHECK 4096
/* parts that a lane adds alone: longer lists would keep the other lanes waiting */
#define SHORT_LIST 16
#define LIST_WORDS 8			/* of the bitmap, 256 vertices: one atomic operation for them */

/*
 * The work items of a sweep, in device memory. With DEGREE_CUT an item is a shadow vertex, part
 * `index` of the list of its vertex; the parts of a list are adjacent and in order. Otherwise an
 * item is a vertex with its whole list.
 */
typedef struct Items
{
	uint64_t	n;
	uint32_t   *vertex;			/* [n], nearly ascending; NULL = item i is vertex i */
	uint32_t   *index;			/* [n], DEGREE_CUT; NULL otherwise */
	double	   *part;			/* [n], DEGREE_CUT: sums of parts; NULL if nothing is summed */

	/*
	 * STAGED: which of the listed items are swept, where their lists are, and which edges of them
	 * are staged; all 0 otherwise.
	 */
	uint64_t	first;			/* item i has number first + i among those listed, ... */
	const uint32_t *pick;		/* ... or number pick[i], [n]; NULL = first + i */
	const uint64_t *start;		/* [listed + 1], edges; NULL = lists are where offsets say */
	Span		window;			/* edges that are staged; {0, 0} = all */
} Items;

/* Bytes per edge in the arrays that sweeps read. */
typedef struct EntryBytes
{
	uint32_t	target;			/* 4 or 8 */
	uint32_t	weight;			/* 0 = not read */
} EntryBytes;

struct Staged;

/* A run by one of the mappings of mapping.cuh. Device arrays belong to run->memory. */
typedef struct Sweeps
{
	Run		   *run;
	EmogiMapping mapping;		/* THREAD .. DEGREE_CUT */
	EntryBytes	bytes;
	int			nblocks;		/* of sweeps, see emogi_sweeps_fit */
	int			nthreads;
	uint64_t	capacity;		/* maximum items */
	Items		items;			/* of the next sweep */
	uint64_t	item_edges;		/* edges of the items */
	uint64_t	item_lines;		/* lines that their lists lie in, including weights */
	uint64_t	edges;			/* read by all sweeps */
	uint64_t	lines;
	/* host memory from cudaHostAlloc, freed at the end of the run; NULL = none */
	void	   *pinned;
	void	   *managed;		/* managed memory, likewise */
	uint64_t	managed_bytes;	/* of managed memory */
	unsigned long long *requests;	/* [4], as in EmogiResult; NULL = not counted */

	/* STAGED placement (staged.cuh). */
	struct Staged *staged;		/* NULL = any other placement */
	uint64_t	staged_bytes;	/* of edges that were copied */
	/*
	 * [nwords], the application's: a staged list is swept again while its vertex is marked, which
	 * clears the mark; NULL = every list is swept once
	 */
	uint32_t   *pending;
} Sweeps;

/* Bits that describe the sweeps of an application. */
#define SWEEPS_WEIGHTS 1u		/* read weights if the graph has any */
#define SWEEPS_SUMS 2u			/* sum: sums of parts of lists are stored */
#define SWEEPS_ALL 4u			/* process all vertices, always */

/*
 * Open a run: allocate the memory for Items of either orientation. Called before the graph is
 * placed.
 */
extern EmogiStatus emogi_sweeps_open(Sweeps *sweeps, Run *run, const EmogiGraph *graph,
									 const EmogiQuery *query, unsigned does, EmogiError *error);

/* Place the graph according to the query, including managed and STAGED placement. */
extern EmogiStatus emogi_sweeps_place(Sweeps *sweeps, const EmogiGraph *graph,
									  const EmogiQuery *query, unsigned wants, EmogiError *error);

/* Place the graph in managed memory: its edges are in one block, sweeps->managed. */
extern EmogiStatus emogi_papers_place_managed(Sweeps *sweeps, const EmogiGraph *graph,
											  const EmogiQuery *query, unsigned wants,
											  EmogiError *error);

/*
 * Convert the placed lists to targets of 8 bytes, copied to where the run reads edges: device
 * memory, or pinned host memory.
 */
extern EmogiStatus emogi_papers_make_wide_targets(Sweeps *sweeps, unsigned wants,
												  EmogiError *error);

/*
 * Place the graph in STAGED placement. emogi_staged_close frees resources outside run->memory, if
 * any, on every path.
 */
extern EmogiStatus emogi_papers_place_staged(Sweeps *sweeps, const EmogiGraph *graph,
											 const EmogiQuery *query, unsigned wants,
											 EmogiError *error);
extern void emogi_staged_close(Sweeps *sweeps);

/*
 * STAGED: load the kernels to the device; list Items in ascending order (called by
 * emogi_papers_list).
 */
extern EmogiStatus emogi_staged_list(Sweeps *sweeps, const Lists<Target> &lists,
									 const uint32_t *bitmap, uint64_t *nmarked, EmogiError *error);

/*
 * STAGED: begin to copy the lists of the Items, of which there is at least one. cuts: lists may be
 * split; otherwise a list that does not fit is EMOGI_NO_MEMORY. Then `bring` gets the next part,
 * its lists and its items, or no items at the end. After each launched sweep over a part, `again`
 * gets the items of the part to sweep again, or none.
 */
extern EmogiStatus emogi_staged_begin(Sweeps *sweeps, const Lists<Target> &lists, bool cuts,
									  EmogiError *error);
extern EmogiStatus emogi_staged_copy(Sweeps *sweeps, const Lists<Target> &lists,
									 Lists<Target> *there, Items *items, EmogiError *error);
extern EmogiStatus emogi_staged_repeat(Sweeps *sweeps, const Lists<Target> &there, Items *items,
									   EmogiError *error);

/* Choose a grid for a kernel that fills the device, as the papers do. */
extern EmogiStatus emogi_sweeps_fit(Sweeps *sweeps, const void *kernel, EmogiError *error);

/* Mark all vertices in a bitmap [nwords]. */
extern EmogiStatus emogi_papers_mark_all(Sweeps *sweeps, uint32_t *bitmap, EmogiError *error);

/*
 * List the Items of the marked vertices whose lists are not empty. Waits for the device. Get the
 * number of marked vertices.
 */
extern EmogiStatus emogi_papers_list(Sweeps *sweeps, const Lists<Target> &lists,
									 const uint32_t *bitmap, uint64_t *nmarked, EmogiError *error);

/*
 * List the Items of all vertices, by way of a bitmap [nwords]. Without DEGREE_CUT no list is
 * stored.
 */
extern EmogiStatus emogi_papers_list_all(Sweeps *sweeps, const Lists<Target> &lists,
										 uint32_t *bitmap, EmogiError *error);

/* Count the requests of a sweep over the Items. */
extern EmogiStatus emogi_papers_count(Sweeps *sweeps, const Lists<Target> &lists,
									  EmogiError *error);

/* Write the counts of the sweeps to the result. Waits for the device. */
extern EmogiStatus emogi_sweeps_account(Sweeps *sweeps, EmogiResult *result, EmogiError *error);

/*
 * Compute levels by hops, which stay on the device: (*level)[nvertices], allocated from
 * run->memory. This opens the run, also for the caller's bits `does`, and places the graph, so the
 * caller allocates everything else first. The caller accounts for these sweeps together with its
 * own.
 */
extern EmogiStatus emogi_papers_levels(Sweeps *sweeps, Run *run, const EmogiGraph *graph,
									   const EmogiQuery *query, unsigned does, unsigned wants,
									   int32_t **level, EmogiResult *result, EmogiError *error);

/*
 * Applications. The query's mapping is THREAD .. DEGREE_CUT, and *sweeps is zeroed; the caller
 * closes it (emogi_staged_close).
 */
typedef EmogiStatus (SweepFunction) (Sweeps *sweeps, Run *run, const EmogiGraph *graph,
									 const EmogiQuery *query, EmogiResult *result,
									 EmogiError *error);
extern SweepFunction emogi_papers_path;
extern SweepFunction emogi_papers_sum;
extern SweepFunction emogi_papers_ssnsp;

#endif							/* EMOGI_PAPERS_CUH */
