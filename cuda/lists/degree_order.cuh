/*
 * degree_order.cuh: degree order: statistics of a graph whose vertices are read at random many
 * times, and labels in (nearly) descending order of degree, by classes of degrees, so that the
 * vertices read most often lie together at the front.
 */
#ifndef EMOGI_DEGREE_ORDER_CUH
#define EMOGI_DEGREE_ORDER_CUH

#include "cuda/access/edge_chunks.cuh"

#define CLASS_BITS 4	/* bits of the degree after its leading 1 that distinguish classes */
#define DEGREE_CLASSES (64 << CLASS_BITS)

/* How often each vertex is a target: one of the two arrays, in device memory. */
typedef struct Degrees
{
	const uint64_t *out; /* [nvertices + 1], offsets of the outgoing edges; NULL = see `counted` */
	unsigned long long *counted;	/* [nvertices] */
} Degrees;

static __device__ __forceinline__ uint64_t
degree_of(const Degrees &degrees, uint64_t v)
{
	return degrees.out != NULL ? degrees.out[v + 1] - degrees.out[v] : degrees.counted[v];
}

/* Statistics of a graph. In device memory, and copied to the host. */
typedef struct Survey
{
	unsigned long long count[DEGREE_CLASSES];	/* vertices by class of their degree */
	unsigned long long looked;	/* edges that were compared with the previous one */
	unsigned long long near;	/* of these, edges that were near it */
} Survey;

/*
 * Collect the statistics of the graph. Uses a little of the run's memory temporarily. `list_index`
 * is the index of its forward lists.
 */
extern EmogiStatus emogi_degree_order_survey(Run *run, const ListIndex *list_index,
											 const Degrees *degrees, Survey *survey,
											 EmogiError *error);

/*
 * Return whether the targets of lists are close to each other, so that other labels would separate
 * them.
 */
extern bool emogi_degree_order_near(const Survey *survey);

/*
 * Return a lower bound of the number of edges to the max_vertices vertices of the highest degrees.
 */
extern uint64_t emogi_degree_order_top(const Survey *survey, uint64_t max_vertices);

/* Queue the kernel that writes label[nvertices]. Allocates a little of the run's memory. */
extern EmogiStatus emogi_degree_order_make(Run *run, const Degrees *degrees, const Survey *survey,
										   uint32_t *label, EmogiError *error);

#endif							/* EMOGI_DEGREE_ORDER_CUH */
