/*
 * papers_module.cuh: emogi_papers.so, the module that runs queries the way the papers' systems do.
 * The first query that requests one of them loads it.
 */
#ifndef EMOGI_PAPERS_MODULE_CUH
#define EMOGI_PAPERS_MODULE_CUH

#include "cuda/core/run.cuh"

/* The symbol that emogi_papers.so exports: an EmogiPapersModule. */
#define EMOGI_PAPERS_SYMBOL "emogi_papers_module"

typedef struct EmogiPapersModule
{
	int			abi;			/* EMOGI_ENGINE_ABI of its build */

	/*
	 * Choose the algorithm for a query. Return BAD_INPUT if no system of the papers can run it,
	 * UNSUPPORTED if they lack the algorithm.
	 */
	EmogiStatus (*choose) (int device, const EmogiQuery *query, RunAlgorithm *algorithm,
						   EmogiError *error);
} EmogiPapersModule;

/*
 * Each module has a CUDA runtime of its own, with a current device of its own in each thread.
 * Kernels belong to the runtime of the module that has them; streams, events and memory belong to
 * the driver.
 */

/* Return whether a query requests one of the papers' systems. */
extern bool emogi_papers_are_wanted(const EmogiQuery *query);

/*
 * Choose the algorithm for such a query, loading the module if necessary. Return UNSUPPORTED if it
 * cannot be loaded.
 */
extern EmogiStatus emogi_papers_choose(int device, const EmogiQuery *query,
									   RunAlgorithm *algorithm, EmogiError *error);

#endif							/* EMOGI_PAPERS_MODULE_CUH */
