/*
 * csr.h: from unordered edges to a Graph in compressed sparse rows.
 *
 * Two steps, so that the caller can give exactly the memory that each needs:
 *   1. emogi_key_numbers_build: the distinct keys of all edge ends, ascending = ids[nvertices], and a map key -> number.
 *   2. emogi_csr_build:  offsets and sorted targets of one orientation (and, when asked, of its transpose).
 * Both run on all threads of the pool, poll control->cancel, and depend on the set of edges alone:
 * the order of the edges, of the chunks and the number of threads change nothing in the Graph.
 * Vertices that are to be there without an edge come in chunks marked as such; step 1 takes their
 * keys, step 2 passes them by.
 */
#ifndef EMOGI_CSR_H
#define EMOGI_CSR_H

#include "contract/engine.h"
#include "threads/pool.h"

typedef struct EmogiEdge
{
	int64_t		src;
	int64_t		dst;
} EmogiEdge;

/* An edge with a weight. Weights are doubles until the CSR stands; NaN never occurs. */
typedef struct EmogiWeightedEdge
{
	int64_t		src;
	int64_t		dst;
	double		weight;
} EmogiWeightedEdge;

/*
 * What a weight is not: OR-ed over all weights, the bits that stay clear name the types that hold
 * every one.
 */
#define EMOGI_NOT_U8	1u
#define EMOGI_NOT_U16	2u
#define EMOGI_NOT_U32	4u
#define EMOGI_NOT_F32	8u

/* The same for what not every algorithm takes. */
#define EMOGI_NEGATIVE	16u
#define EMOGI_INFINITE	32u

/* Get the types that do not hold a weight exactly. */
static inline uint32_t
emogi_weight_misfits(double weight)
{
	uint32_t	misfits = (double) (float) weight == weight ? 0 : EMOGI_NOT_F32;

	if (weight < 0)
		misfits |= EMOGI_NEGATIVE;
	if (__builtin_isinf(weight))
		misfits |= EMOGI_INFINITE;
	if (!(weight >= 0 && weight <= 4294967295.0) || weight != (double) (uint32_t) weight)
		return misfits | EMOGI_NOT_U8 | EMOGI_NOT_U16 | EMOGI_NOT_U32;
	if (weight > 65535)
		return misfits | EMOGI_NOT_U8 | EMOGI_NOT_U16;
	return weight > 255 ? misfits | EMOGI_NOT_U8 : misfits;
}

/* Get the narrowest type for weights with these misfits. */
static inline EmogiWeightType
emogi_weight_type(uint32_t misfits)
{
	if ((misfits & EMOGI_NOT_U8) == 0)
		return EMOGI_WEIGHT_U8;
	if ((misfits & EMOGI_NOT_U16) == 0)
		return EMOGI_WEIGHT_U16;
	if ((misfits & EMOGI_NOT_U32) == 0)
		return EMOGI_WEIGHT_U32;
	return (misfits & EMOGI_NOT_F32) == 0 ? EMOGI_WEIGHT_F32 : EMOGI_WEIGHT_F64;
}

/* Say whether a type holds a weight exactly; NONE is said to hold all. */
static inline bool
emogi_weight_is_held(EmogiWeightType type, double weight)
{
	static const uint32_t misfits[] = {0, EMOGI_NOT_U8, EMOGI_NOT_U16, EMOGI_NOT_U32, EMOGI_NOT_F32,
		0};

	return misfits[type] == 0 || (emogi_weight_misfits(weight) & misfits[type]) == 0;
}

/* Get the bytes of a weight; 0 for EMOGI_WEIGHT_NONE. */
static inline size_t
emogi_weight_bytes(EmogiWeightType type)
{
	static const unsigned char bytes[] = {0, 1, 2, 4, 4, 8};

	return bytes[type];
}

/* Edges as the scan leaves them: fixed-size chunks, each filled by one process. */
#define EMOGI_CHUNK_BYTES ((size_t) 2 << 20)

typedef struct EmogiEdgeChunk
{
	uint64_t	nedges;
	int64_t		min_key;		/* over both ends; meaningless when nedges = 0 */
	int64_t		max_key;
	uint32_t	weight_misfits; /* over all weights */
	uint32_t	alone;			/* 1 = these are no edges but vertices, each as both ends of one */
	uint64_t	first;			/* place of its first edge in a COO, by emogi_coo_pack */
	char		pad[EMOGI_LINE_BYTES - 40];
	EmogiEdge	edges[];		/* [nedges] of EMOGI_CHUNK_EDGES; with weights, see
								 * emogi_weighted_edges */
} EmogiEdgeChunk;

/* Get a chunk's edges where edges have weights: [nedges] of EMOGI_CHUNK_WEIGHTED_EDGES. */
static inline EmogiWeightedEdge *
emogi_weighted_edges(EmogiEdgeChunk *chunk)
{
	return (EmogiWeightedEdge *) chunk->edges;
}

#define EMOGI_CHUNK_EDGES ((EMOGI_CHUNK_BYTES - EMOGI_LINE_BYTES) / sizeof(EmogiEdge))
#define EMOGI_CHUNK_WEIGHTED_EDGES ((EMOGI_CHUNK_BYTES - EMOGI_LINE_BYTES) / sizeof(EmogiWeightedEdge))

typedef struct EmogiEdges
{
	uint64_t	nchunks;
	EmogiEdgeChunk *const *chunks;	/* [nchunks]; chunks with nedges = 0 are allowed */
	bool		weighted;		/* chunks hold EmogiWeightedEdge */
	uint32_t	weight_misfits; /* over all weights */
	uint64_t	nedges;			/* sum over the chunks */
	uint64_t	nalone;			/* of those: vertices and not edges, in chunks of their own */
	int64_t		min_key;		/* over all ends; meaningless when nedges = 0 */
	int64_t		max_key;
} EmogiEdges;

/* How keys become numbers: see emogi_key_numbers_plan. */
typedef enum EmogiKeyMethod
{
	EMOGI_KEYS_DIRECT,			/* a bitmap with ranks over min_key .. max_key, nothing when
								 * every key occurs */
	EMOGI_KEYS_SORTED,			/* sorted distinct keys, found by an indexed search */
	/* (1 .. nvertices) << shift, and all of them occur: the codes of a new dictionary */
	EMOGI_KEYS_SPACED
} EmogiKeyMethod;

typedef struct EmogiKeyPlan
{
	EmogiKeyMethod method;
	uint64_t	max_vertices;	/* upper bound of nvertices: min(2 * nedges, key range) */
	size_t		scratch_bytes;	/* of emogi_key_numbers_build; must stay until emogi_csr_build
								 * has returned */
	int			shift;			/* EMOGI_KEYS_SPACED */
} EmogiKeyPlan;

/*
 * Decide the method: direct when max - min + 1 <= 32 x nedges (and always for tiny ranges), else
 * sorted.
 */
extern void emogi_key_numbers_plan(const EmogiEdges *edges, EmogiKeyPlan *plan);

/* Plan for keys that are (1 .. nkeys) << shift, each of which is known to occur. */
extern void emogi_key_numbers_plan_spaced(uint64_t nkeys, int shift, EmogiKeyPlan *plan);

/* What step 1 leaves in its scratch for step 2; opaque but for nvertices. */
typedef struct EmogiKeyNumbers
{
	uint64_t	nvertices;
	EmogiKeyMethod method;
	int64_t		min_key;
	int			shift;			/* 0 but for EMOGI_KEYS_SPACED */
	uint64_t	map_length;
	const void *map;			/* [map_length], inside scratch; NULL = number is (key - min_key)
								 * >> shift */
	const void *index;			/* inside scratch; NULL but for EMOGI_KEYS_SORTED */
} EmogiKeyNumbers;

/*
 * Step 1. scratch: plan->scratch_bytes, EMOGI_LINE_BYTES-aligned, any content, not yet populated
 * (the threads do it). BAD_INPUT when there are more than EMOGI_MAX_VERTICES distinct keys.
 */
extern EmogiStatus emogi_key_numbers_build(EmogiPool *pool, const EmogiEdges *edges,
										   const EmogiKeyPlan *plan,
										   void *scratch, EmogiKeyNumbers *keys,
										   EmogiControl *control, EmogiError *error);

/*
 * Bytes of the Graph's block (nedges = edges given without such vertices, before EMOGI_BOTH doubles
 * them): ids, offsets and targets of one orientation, and of the transpose when asked.
 */
extern size_t emogi_csr_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
							  bool with_backward, EmogiWeightType weight_type);

/* Bytes of scratch for step 2. */
extern size_t emogi_csr_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
									  int nthreads, bool weighted);

/* What a Graph is made of, and where. */
typedef struct EmogiCsrInput
{
	const EmogiEdges *edges;	/* only read */
	const EmogiKeyNumbers *keys;	/* of step 1, whose scratch is still there */
	EmogiDirection direction;
	bool		with_backward;	/* for EMOGI_BOTH backward equals forward at no cost; else it is
								 * built only when asked */
	void	   *memory;			/* emogi_csr_bytes, page-aligned, any content, not populated */
	void	   *scratch;		/* emogi_csr_scratch_bytes, EMOGI_LINE_BYTES-aligned, likewise */
} EmogiCsrInput;

/*
 * Step 2. Fills *graph, whose pointers lead into input->memory; backward's offsets are NULL where
 * there is none.
 */
extern EmogiStatus emogi_csr_build(EmogiPool *pool, const EmogiCsrInput *input, EmogiGraph *graph,
								   EmogiControl *control, EmogiError *error);

/*
 * The reverse: the edges of forward's lists, with the keys as ends and the weights that the Graph
 * shows, into edges->chunks, which are empty, not yet populated, and hold them all. reversed:
 * forward leads from dst to src.
 */
extern EmogiStatus emogi_csr_expand(EmogiPool *pool, const EmogiGraph *graph, bool reversed,
									const EmogiEdges *edges, EmogiControl *control,
									EmogiError *error);

/*
 * The view of a Graph that emogi_csr_build has laid out in memory before, perhaps in another
 * process. nedges = the list entries of forward (graph->forward.nedges), which for EMOGI_BOTH is
 * more than the edges given.
 */
extern void emogi_csr_view(void *memory, uint64_t nvertices, uint64_t nedges,
						   EmogiDirection direction, bool with_backward,
						   EmogiWeightType weight_type, EmogiGraph *graph);

/* Have a Graph lead into `memory`, where a copy of its block lies. */
extern void emogi_graph_move(EmogiGraph *graph, const void *memory);

/* The number of a key, or EMOGI_NO_VERTEX: search in ids, from where the key should stand. */
extern uint32_t emogi_graph_vertex(const EmogiGraph *graph, int64_t key);

#endif							/* EMOGI_CSR_H */
