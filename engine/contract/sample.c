/*
 * sample.c: random choice of the vertices from which a result is estimated.
 *
 * Each vertex in turn is chosen with probability (number still to choose) / (number of remaining
 * vertices) [1]. The random number of vertex v is element v of a sequence, so the choice depends
 * only on the arguments.
 *
 * [1] C. Fan, M. Muller, I. Rezucha. Development of Sampling Plans by Using Sequential (Item by
 *     Item) Selection Techniques and Digital Computers. J. American Statistical Association 57,
 *     1962.
 */
#include "sample.h"

/* Get element i of a sequence of random numbers. */
static inline uint64_t
random_number(uint64_t seed, uint64_t i)
{
	uint64_t	x = (seed ^ UINT64_C(0x6A09E667F3BCC909)) * UINT64_C(0xD1B54A32D192ED03) +
		(i + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

void
emogi_sample_choose(uint64_t nvertices, uint64_t count, uint64_t seed, uint32_t *chosen)
{
	uint64_t	nchosen = 0;

	for (uint64_t v = 0; v < nvertices && nchosen < count; v++)
	{
		const uint64_t below = (uint64_t) (((unsigned __int128) random_number(seed, v) *
											(nvertices - v)) >> 64);

		if (below < count - nchosen)
			chosen[nchosen++] = (uint32_t) v;
	}
}
