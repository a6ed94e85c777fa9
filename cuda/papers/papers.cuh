/*
 * papers.cuh: the systems of the papers beside our own kernels, for whoever wants to compare: what their runs share.
 *
 *   mapping                   who takes the edges of a vertex                                    from
 *   THREAD, WARP, ALIGNED     a thread; a warp; a warp from the start of a line                  [1, section 4.3]
 *   VIRTUAL2 .. VIRTUAL16     a virtual warp of so many lanes                                    [2, section 3]
 *   DEGREE_CUT                a thread for at most CUT_DEGREE of them, which it prefetches       [3]
 *   SHARDS, WINDOWS           see shards.cuh                                                     [4]
 *
 * All run the same vertex-centric loop, as the papers' systems do: an iteration takes all lists of the active vertices,
 * without buckets, directions, samples or whatever else our own kernels do to read fewer edges. What is active is
 * marked in a bitmap, from which the iteration's Items are listed; a mapping is a kernel over Items (mapping.cuh),
 * and an application is the small struct Work that the kernel calls (relax.cu, sums.cu, counts.cu). So
 * a mapping runs every application, and an application has every mapping. Placements that no kernel of ours has are
 * MANAGED (managed.cu) and STAGED (staged.cuh).
 *
 * [1] S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi, W. Hwu: EMOGI: Efficient Memory-access for
 *     Out-of-memory Graph-traversal in GPUs. PVLDB 14(2), 2020.
 * [2] S. Hong, S. K. Kim, T. Oguntebi, K. Olukotun: Accelerating CUDA Graph Algorithms at Maximum Warp. PPoPP 2011.
 * [3] P. Wang, L. Zhang, C. Li, M. Guo: Excavating the Potential of GPU for Accelerating Graph Traversal. IPDPS 2019
 *     (EtaGraph: unified degree cut, shared memory prefetch).
 * [4] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on GPUs. HPDC 2014.
 */
#ifndef EMOGI_PAPERS_CUH
#define EMOGI_PAPERS_CUH

#include "cuda/core/run.cuh"

/* Tuned constants of the mappings, of bc1d508. bench/PAPERS.md has the figures of an NVIDIA H200 at b47e0c8 with these values. */
#define CUT_DEGREE 16			/* most neighbours of a shadow vertex: K of [3] */
#define CUT_THREADS 128			/* of a block that cuts: what it prefetches must fit in shared memory */
#define TICKET_ROUNDS 4			/* of as many items as a warp takes at once: what a ticket is for; 1 to 8 */
#define ENTRIES_PER_CHECK 4096	/* that a lane reads of a list between two looks at cancel: some ms over the link */
#define SHORT_LIST 16			/* parts that a lane adds alone: longer lists would keep the others waiting */
#define LIST_WORDS 8			/* of the bitmap, 256 vertices: one atomic operation for them */

/*
 * What one sweep works on, in device memory. With DEGREE_CUT an item is a shadow vertex, part `index` of the list of its
 * vertex; the parts of a list follow one another, in order. Otherwise it is a vertex with its whole list.
 */
typedef struct Items
{
	uint64_t	n;
	uint32_t   *vertex;			/* [n], nearly ascending; NULL = item i is vertex i */
	uint32_t   *index;			/* [n], DEGREE_CUT; NULL otherwise */
	double	   *part;			/* [n], DEGREE_CUT: sums of parts; NULL where nothing is summed */

	/* STAGED: what is swept of the items that are listed, where their lists are, what is there of them; all 0 otherwise. */
	uint64_t	first;			/* item i is number first + i of those listed .. */
	const uint32_t *pick;		/* [n], or number pick[i]; NULL = first + i */
	const uint64_t *start;		/* [listed + 1], entries; NULL = lists are where offsets say */
	Span		window;			/* entries that are there; {0, 0} = all */
} Items;

/* What an entry takes of the arrays that sweeps read. */
typedef struct EntryBytes
{
	uint32_t	target;			/* 4 or 8 */
	uint32_t	weight;			/* 0 = none is read */
} EntryBytes;

struct Staged;

/* A run by one of the mappings of mapping.cuh. The device's arrays belong to run->memory. */
typedef struct Sweeps
{
	Run		   *run;
	EmogiMapping mapping;		/* THREAD .. DEGREE_CUT */
	EntryBytes	bytes;
	int			nblocks;		/* of sweeps, see emogi_sweeps_fit */
	int			nthreads;
	uint64_t	capacity;		/* items that there is room for */
	Items		items;			/* of the next sweep */
	uint64_t	item_edges;		/* entries that they have */
	uint64_t	item_lines;		/* lines that their lists lie in, weights included */
	uint64_t	edges;			/* that all sweeps have read */
	uint64_t	lines;
	void	   *pinned;			/* host memory of cudaHostAlloc, freed when the run is over; NULL = none */
	void	   *managed;		/* managed memory, the same */
	uint64_t	managed_bytes;	/* of it */
	unsigned long long *requests;	/* [4], as in EmogiResult; NULL = not counted */

	/* STAGED placement (staged.cuh). */
	struct Staged *staged;		/* NULL = any other placement */
	uint64_t	staged_bytes;	/* of edges that were copied */
	uint32_t   *pending;		/* [nwords], the application's: a list that is there is swept again while its vertex is
								 * marked, which clears the mark; NULL = every list is swept once */
} Sweeps;

/* What sweeps do: bits. */
#define SWEEPS_WEIGHTS 1u		/* read weights, where the Graph has any */
#define SWEEPS_SUMS 2u			/* sum: parts of lists are kept */
#define SWEEPS_ALL 4u			/* take all vertices, always */

/* Open a run. Takes what Items of either orientation need. Before the Graph is placed. */
extern EmogiStatus emogi_sweeps_open(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									 unsigned does, EmogiError *error);

/* Place the Graph as the query wants, managed memory and STAGED included. */
extern EmogiStatus emogi_sweeps_place(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
									  EmogiError *error);

/* The same in managed memory: its edges stand in one block, sweeps->managed. */
extern EmogiStatus emogi_papers_place_managed(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query,
											  unsigned wants, EmogiError *error);

/* Give the placed lists targets of 8 bytes, copied to where the run reads edges: device memory, or pinned host memory. */
extern EmogiStatus emogi_papers_widen(Sweeps *sweeps, unsigned wants, EmogiError *error);

/* The same in STAGED placement. emogi_staged_close frees what is not run->memory's, if anything, on every path. */
extern EmogiStatus emogi_papers_place_staged(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query,
											 unsigned wants, EmogiError *error);
extern void emogi_staged_close(Sweeps *sweeps);

/* STAGED: bring the kernels to the device; list Items in ascending order, as emogi_papers_list, which calls this. */
extern EmogiStatus emogi_staged_load(EmogiError *error);
extern EmogiStatus emogi_staged_list(Sweeps *sweeps, const Lists<Target> &lists, const uint32_t *bitmap,
									 uint64_t *nmarked, EmogiError *error);

/*
 * STAGED: begin to bring the lists of the Items, of which there are some. `cuts`: they may be cut, otherwise one that does
 * not fit is EMOGI_NO_MEMORY. Then get the next part, its lists and its items, none when there is no more; and after each
 * sweep over a part, which is launched, those of its items to sweep again, none when it is over.
 */
extern EmogiStatus emogi_staged_begin(Sweeps *sweeps, const Lists<Target> &lists, bool cuts, EmogiError *error);
extern EmogiStatus emogi_staged_bring(Sweeps *sweeps, const Lists<Target> &lists, Lists<Target> *there, Items *items,
									  EmogiError *error);
extern EmogiStatus emogi_staged_again(Sweeps *sweeps, const Lists<Target> &there, Items *items, EmogiError *error);

/* Bring a kernel to the device and fill the device with it, as the papers do. */
extern EmogiStatus emogi_sweeps_fit(Sweeps *sweeps, const void *kernel, EmogiError *error);

/* Mark all vertices in a bitmap [nwords]. */
extern EmogiStatus emogi_papers_mark_all(Sweeps *sweeps, uint32_t *bitmap, EmogiError *error);

/*
 * List the Items that marked vertices make of these lists, where they are not empty. Waits for the device. Get how many
 * vertices are marked.
 */
extern EmogiStatus emogi_papers_list(Sweeps *sweeps, const Lists<Target> &lists, const uint32_t *bitmap,
									 uint64_t *nmarked, EmogiError *error);

/* The same for all vertices, by way of a bitmap [nwords]. Without DEGREE_CUT no list is kept. */
extern EmogiStatus emogi_papers_list_all(Sweeps *sweeps, const Lists<Target> &lists, uint32_t *bitmap,
										 EmogiError *error);

/* Count the requests of a sweep over the Items. */
extern EmogiStatus emogi_papers_count(Sweeps *sweeps, const Lists<Target> &lists, EmogiError *error);

/* Write what the sweeps have read to the result. Waits for the device. */
extern EmogiStatus emogi_sweeps_account(Sweeps *sweeps, EmogiResult *result, EmogiError *error);

/*
 * Levels by hops, which stay on the device: (*level)[nvertices], taken from run->memory. Opens, for what the caller
 * `does` as well, and places, after all else that the caller takes. The caller accounts for the sweeps, with its own.
 */
extern EmogiStatus emogi_papers_levels(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									   unsigned does, unsigned wants, int32_t **level, EmogiResult *result,
									   EmogiError *error);

/* Applications. The query's mapping is THREAD .. DEGREE_CUT, *sweeps all 0; the caller closes it (emogi_staged_close). */
extern EmogiStatus emogi_papers_path(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									 EmogiResult *result, EmogiError *error);
extern EmogiStatus emogi_papers_sum(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									EmogiResult *result, EmogiError *error);
extern EmogiStatus emogi_papers_ssnsp(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									  EmogiResult *result, EmogiError *error);

#endif							/* EMOGI_PAPERS_CUH */
