/*
 * builder.h: construction of graphs, and of what they are made from, with the threads of an engine
 *
 * The functions run on all threads of the engine's state, poll control->cancel, and return
 * CANCELED, NO_MEMORY or BAD_INPUT if they fail. csr.h, coo.h, merge.h and dictionary.h describe
 * the inputs and the memory that the caller allocates.
 */
#ifndef EMOGI_BUILDER_H
#define EMOGI_BUILDER_H

#include "contract/coo.h"
#include "contract/csr.h"
#include "contract/dictionary.h"
#include "contract/merge.h"

typedef struct EmogiBuilder
{
	/*
	 * Build a dictionary of all keys of a table, and turn the endpoints of edges into codes. The
	 * caller must read the edges' min_key and max_key from the chunks again.
	 */
	EmogiStatus (*dictionary) (EmogiEngineState *state, const EmogiDictionaryInput *input,
							   EmogiDictionary **dictionary, EmogiControl *control,
							   EmogiError *error);

	/* Step 1 of csr.h: the distinct keys of all edge ends. */
	EmogiStatus (*keys) (EmogiEngineState *state, const EmogiEdges *edges, const EmogiKeyPlan *plan,
						 void *scratch, EmogiKeyNumbers *keys, EmogiControl *control,
						 EmogiError *error);

	/* Step 2: the graph. */
	EmogiStatus (*csr) (EmogiEngineState *state, const EmogiCsrInput *input, EmogiGraph *graph,
						EmogiControl *control, EmogiError *error);

	/* Write the edges of a graph's forward lists to empty chunks. */
	EmogiStatus (*expand) (EmogiEngineState *state, const EmogiGraph *graph, bool reversed,
						   const EmogiEdges *edges, EmogiControl *control, EmogiError *error);

	/* Merge changes into a graph. */
	EmogiStatus (*merge) (EmogiEngineState *state, const EmogiMergeInput *input, EmogiGraph *graph,
						  EmogiControl *control, EmogiError *error);

	/* Fill an empty COO with all edges, and count the misfits of their weights. */
	EmogiStatus (*pack) (EmogiEngineState *state, const EmogiEdges *edges, EmogiCoo *coo,
						 EmogiMisfitCounts *counts, EmogiControl *control, EmogiError *error);

	/* Write the edges of these runs of a COO to empty chunks. */
	EmogiStatus (*unpack) (EmogiEngineState *state, const EmogiCoo *coo, const EmogiCooRun *runs,
						   uint64_t nruns, const EmogiEdges *edges, EmogiControl *control,
						   EmogiError *error);
} EmogiBuilder;

/* Get the functions for states of the CPU engine. */
extern const EmogiBuilder *emogi_cpu_builder(void);

#endif							/* EMOGI_BUILDER_H */
