/*
 * csr.h: build a graph in compressed sparse rows (CSR) from unordered edges.
 *
 * There are two steps, so that the caller can allocate exactly the memory that each needs:
 *
 *   1. emogi_key_numbers_build: the distinct keys of all edge ends, ascending =
 *      ids[nvertices], and a map from key to number.
 *   2. emogi_csr_build: offsets and sorted targets of one direction (and of its transpose,
 *      if requested).
 *
 * Both run on all threads of the pool, poll control->cancel, and depend only on the multiset of
 * edges: the order of the edges or of the chunks and the number of threads do not change the graph.
 * Isolated vertices come in chunks marked as such; step 1 takes their keys, step 2 skips them.
 */
#ifndef EMOGI_CSR_H
#define EMOGI_CSR_H

#include "contract/engine.h"

typedef struct EmogiEdge
{
	int64_t		src;
	int64_t		dst;
} EmogiEdge;

/* An edge with a weight. Weights are doubles until the CSR is built; NaN never occurs. */
typedef struct EmogiWeightedEdge
{
	int64_t		src;
	int64_t		dst;
	double		weight;
} EmogiWeightedEdge;

/*
 * Misfits of a weight: the types that do not hold it exactly. OR-ed over all weights, the clear
 * bits name the types that hold every weight.
 */
#define EMOGI_NOT_U8	1u
#define EMOGI_NOT_U16	2u
#define EMOGI_NOT_U32	4u
#define EMOGI_NOT_F32	8u

/* Likewise, properties that some algorithms reject. */
#define EMOGI_NEGATIVE	16u
#define EMOGI_INFINITE	32u

/* Get the misfits of a weight. */
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

/* Check whether a type holds a weight exactly; NONE is said to hold all. */
static inline bool
emogi_weight_is_exact(EmogiWeightType type, double weight)
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
	int64_t		min_key;		/* over both ends; undefined if nedges = 0 */
	int64_t		max_key;
	uint32_t	weight_misfits; /* over all weights */
	uint32_t	isolated;		/* 1 = isolated vertices instead of edges, each as both ends of
								 * an edge */
	uint64_t	first;			/* place of the first edge in a COO, set by emogi_coo_pack */
	char		pad[EMOGI_LINE_BYTES - 40];
	EmogiEdge	edges[];		/* [nedges] of EMOGI_CHUNK_EDGES; with weights, see
								 * emogi_weighted_edges */
} EmogiEdgeChunk;

/* Get a chunk's weighted edges: [nedges] of EMOGI_CHUNK_WEIGHTED_EDGES. */
static inline EmogiWeightedEdge *
emogi_weighted_edges(EmogiEdgeChunk *chunk)
{
	return (EmogiWeightedEdge *) chunk->edges;
}

#define EMOGI_CHUNK_EDGES ((EMOGI_CHUNK_BYTES - EMOGI_LINE_BYTES) / sizeof(EmogiEdge))
#define EMOGI_CHUNK_WEIGHTED_EDGES \
	((EMOGI_CHUNK_BYTES - EMOGI_LINE_BYTES) / sizeof(EmogiWeightedEdge))

typedef struct EmogiEdges
{
	uint64_t	nchunks;
	EmogiEdgeChunk *const *chunks;	/* [nchunks]; chunks with nedges = 0 are allowed */
	bool		weighted;		/* chunks hold EmogiWeightedEdge */
	uint32_t	weight_misfits; /* over all weights */
	uint64_t	nedges;			/* sum over the chunks */
	uint64_t	nisolated;		/* isolated vertices included in nedges, in chunks of their own */
	int64_t		min_key;		/* over all ends; undefined if nedges = 0 */
	int64_t		max_key;
} EmogiEdges;

/* Get the narrowest type for the weights of edges; NONE if they have none. */
static inline EmogiWeightType
emogi_edges_weight_type(const EmogiEdges *edges)
{
	return edges->weighted ? emogi_weight_type(edges->weight_misfits) : EMOGI_WEIGHT_NONE;
}

/* The methods that map keys to numbers: see emogi_key_numbers_plan. */
typedef enum EmogiKeyMethod
{
	EMOGI_KEYS_DIRECT,			/* a bitmap with ranks over min_key .. max_key; no map if every
								 * key occurs */
	EMOGI_KEYS_SORTED,			/* sorted distinct keys with an index */
	/* keys are (1 .. nvertices) << shift, and all of them occur: the codes of a new dictionary */
	EMOGI_KEYS_SPACED
} EmogiKeyMethod;

typedef struct EmogiKeyPlan
{
	EmogiKeyMethod method;
	uint64_t	max_vertices;	/* upper bound of nvertices: min(2 * nedges, key range) */
	size_t		scratch_bytes;	/* of emogi_key_numbers_build; must persist until emogi_csr_build
								 * returns */
	int			shift;			/* EMOGI_KEYS_SPACED */
} EmogiKeyPlan;

/*
 * Choose the method: direct if max - min + 1 <= 32 * nedges (and always for tiny ranges), otherwise
 * sorted.
 */
extern void emogi_key_numbers_plan(const EmogiEdges *edges, EmogiKeyPlan *plan);

/* Plan for keys that are (1 .. nkeys) << shift, all of which are known to occur. */
extern void emogi_key_numbers_plan_spaced(uint64_t nkeys, int shift, EmogiKeyPlan *plan);

/* The result of step 1, in its scratch, for step 2; opaque except for nvertices. */
typedef struct EmogiKeyNumbers
{
	uint64_t	nvertices;
	EmogiKeyMethod method;
	int64_t		min_key;
	int			shift;			/* 0 unless EMOGI_KEYS_SPACED */
	uint64_t	map_length;
	const void *map;			/* [map_length], inside scratch; NULL = number is (key - min_key)
								 * >> shift */
	const void *index;			/* inside scratch; NULL unless EMOGI_KEYS_SORTED */
} EmogiKeyNumbers;

/*
 * Get the bytes of the graph's block: ids, offsets and targets of one direction, and of the
 * transpose if requested. nedges: edges without isolated vertices, before EMOGI_BOTH doubles them.
 */
extern size_t emogi_csr_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
							  bool with_backward, EmogiWeightType weight_type);

/* Get the bytes of scratch for step 2. */
extern size_t emogi_csr_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
									  int nthreads, bool weighted);

/* The input of step 2, and where its output goes. */
typedef struct EmogiCsrInput
{
	const EmogiEdges *edges;	/* read-only */
	const EmogiKeyNumbers *keys;	/* of step 1, with its scratch still valid */
	EmogiDirection direction;
	bool		with_backward;	/* for EMOGI_BOTH, backward equals forward at no cost; otherwise
								 * it is built only if set */
	void	   *memory;			/* emogi_csr_bytes, page-aligned, undefined content, not
								 * populated */
	void	   *scratch;		/* emogi_csr_scratch_bytes, EMOGI_LINE_BYTES-aligned, likewise */
} EmogiCsrInput;

/*
 * Get the view of a graph that emogi_csr_build has laid out in memory, possibly in another process.
 * nedges = graph->forward.nedges, which for EMOGI_BOTH exceeds the number of edges given.
 */
extern void emogi_csr_view(void *memory, uint64_t nvertices, uint64_t nedges,
						   EmogiDirection direction, bool with_backward,
						   EmogiWeightType weight_type, EmogiGraph *graph);

/*
 * Get a graph without vertices, of lists that an overlay may change: forward lists, and backward
 * lists as emogi_csr_view has them. It has no memory.
 */
extern void emogi_csr_view_empty(EmogiDirection direction, bool with_backward,
								 EmogiWeightType weight_type, EmogiGraph *graph);

/* Relocate a graph's pointers to `memory`, which holds a copy of its block. */
extern void emogi_graph_relocate(EmogiGraph *graph, const void *memory);

/* Get the number of a key, or EMOGI_NO_VERTEX, by interpolation search in ids. */
extern uint32_t emogi_graph_vertex(const EmogiGraph *graph, int64_t key);

#endif							/* EMOGI_CSR_H */
