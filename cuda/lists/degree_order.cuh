/*
 * degree_order.cuh: what is to know of a Graph whose vertices are read at random again and again, and labels by which they lie together.
 *
 * DegreeOrder number the vertices in descending order of degree, or nearly so: by classes of degrees. What is read most often is at
 * the front.
 */
#ifndef EMOGI_DEGREE_ORDER_CUH
#define EMOGI_DEGREE_ORDER_CUH

#include "cuda/access/edge_chunks.cuh"

#define CLASS_BITS 4			/* of the degree, after its first 1, tell classes apart */
#define DEGREE_CLASSES (64 << CLASS_BITS)

/* How often each vertex is a target: one of the two, in device memory. */
typedef struct Degrees
{
	const uint64_t *out;		/* [nvertices + 1], offsets of the edges out; NULL = counted */
	unsigned long long *counted;	/* [nvertices] */
} Degrees;

static __device__ __forceinline__ uint64_t
degree_of(const Degrees &degrees, uint64_t v)
{
	return degrees.out != NULL ? degrees.out[v + 1] - degrees.out[v] : degrees.counted[v];
}

/* What is known of a Graph. In device memory, and copied to the host. */
typedef struct Survey
{
	unsigned long long count[DEGREE_CLASSES];	/* vertices by class of their degree */
	unsigned long long looked;	/* entries that were compared with the one before */
	unsigned long long near;	/* of these, how many were near it */
} Survey;

/* Look at the Graph. Takes and gives back a little of the run's memory. `outline` is that of its forward lists. */
extern EmogiStatus emogi_degree_order_survey(Run *run, const ListIndex *outline, const Degrees *degrees, Survey *survey, EmogiError *error);

/* Say whether the targets of lists are near to each other as they are, so that other labels would drive them apart. */
extern bool emogi_degree_order_near(const Survey *survey);

/* Get what the `most` vertices of the highest degrees have of the entries, at least. */
extern uint64_t emogi_degree_order_top(const Survey *survey, uint64_t most);

/* Queue the making of label[nvertices]. Takes a little of the run's memory. */
extern EmogiStatus emogi_degree_order_make(Run *run, const Degrees *degrees, const Survey *survey, uint32_t *label, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_degree_order_load(EmogiError *error);

#endif							/* EMOGI_DEGREE_ORDER_CUH */
