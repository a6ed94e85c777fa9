/*
 * cpu_builder.c: construction of graphs with the threads of the CPU engine (contract/builder.h).
 */
#include "contract/builder.h"

#include "cpu/cpu.h"
#include "dictionary/dictionary.h"
#include "graph/coo.h"
#include "graph/csr.h"
#include "graph/merge.h"

static EmogiStatus
build_dictionary(EmogiEngineState *state, const EmogiDictionaryInput *input,
				 EmogiDictionary **dictionary, EmogiControl *control, EmogiError *error)
{
	return emogi_dictionary_build(emogi_cpu_engine_pool(state), input, dictionary, control, error);
}

static EmogiStatus
number_keys(EmogiEngineState *state, const EmogiEdges *edges, const EmogiKeyPlan *plan,
			void *scratch, EmogiKeyNumbers *keys, EmogiControl *control, EmogiError *error)
{
	return emogi_key_numbers_build(emogi_cpu_engine_pool(state), edges, plan, scratch, keys,
								   control, error);
}

static EmogiStatus
build_csr(EmogiEngineState *state, const EmogiCsrInput *input, EmogiGraph *graph,
		  EmogiControl *control, EmogiError *error)
{
	return emogi_csr_build(emogi_cpu_engine_pool(state), input, graph, control, error);
}

static EmogiStatus
expand_csr(EmogiEngineState *state, const EmogiGraph *graph, bool reversed,
		   const EmogiEdges *edges, EmogiControl *control, EmogiError *error)
{
	return emogi_csr_expand(emogi_cpu_engine_pool(state), graph, reversed, edges, control, error);
}

static EmogiStatus
merge(EmogiEngineState *state, const EmogiMergeInput *input, EmogiGraph *graph,
	  EmogiControl *control, EmogiError *error)
{
	return emogi_merge(emogi_cpu_engine_pool(state), input, graph, control, error);
}

static EmogiStatus
pack_coo(EmogiEngineState *state, const EmogiEdges *edges, EmogiCoo *coo,
		 EmogiMisfitCounts *counts, EmogiControl *control, EmogiError *error)
{
	return emogi_coo_pack(emogi_cpu_engine_pool(state), edges, coo, counts, control, error);
}

static EmogiStatus
unpack_coo(EmogiEngineState *state, const EmogiCoo *coo, const EmogiCooRun *runs, uint64_t nruns,
		   const EmogiEdges *edges, EmogiControl *control, EmogiError *error)
{
	return emogi_coo_unpack(emogi_cpu_engine_pool(state), coo, runs, nruns, edges, control, error);
}

const EmogiBuilder *
emogi_cpu_builder(void)
{
	static const EmogiBuilder builder = {
		.dictionary = build_dictionary,
		.keys = number_keys,
		.csr = build_csr,
		.expand = expand_csr,
		.merge = merge,
		.pack = pack_coo,
		.unpack = unpack_coo
	};

	return &builder;
}
