/*
 * papers_module.cuh: emogi_papers.so, the module that runs queries as the papers' systems do. It is loaded by the first query
 * that asks for one of them.
 */
#ifndef EMOGI_PAPERS_MODULE_CUH
#define EMOGI_PAPERS_MODULE_CUH

#include "cuda/core/run.cuh"

/* The symbol that emogi_papers.so exports: an EmogiPapersModule. */
#define EMOGI_PAPERS_SYMBOL "emogi_papers_module"

typedef struct EmogiPapersModule
{
	int			abi;			/* EMOGI_ENGINE_ABI of its build */

	/* Choose what runs a query. BAD_INPUT for what no system of the papers can do, UNSUPPORTED for an algorithm that they lack. */
	EmogiStatus (*choose) (const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error);
} EmogiPapersModule;

/* Does a query ask for one of the papers' systems? */
extern bool emogi_papers_are_wanted(const EmogiQuery *query);

/* Choose what runs a query that does, loading the module if necessary. UNSUPPORTED if it cannot be loaded. */
extern EmogiStatus emogi_papers_choose(const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error);

#endif							/* EMOGI_PAPERS_MODULE_CUH */
