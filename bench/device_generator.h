/*
 * device_generator.h: interface between emogi_bench and emogi_bench_cuda.so, which builds synthetic
 * graphs on a GPU.
 */
#ifndef EMOGI_BENCH_DEVICE_GENERATOR_H
#define EMOGI_BENCH_DEVICE_GENERATOR_H

#include "edge.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Incremented when the definitions below or the generated graphs change; other modules are
 * rejected.
 */
#define EMOGI_GENERATOR_ABI 2

/* A graph in device memory. */
typedef struct EmogiDeviceGraph EmogiDeviceGraph;

/*
 * generate() builds the graph that emogi_generate, emogi_build_graph(EMOGI_BOTH) and
 * emogi_remove_repeats build from a recipe, bit for bit, and returns its size. fetch() copies it
 * into a view that emogi_csr_view has laid out for that size, with weights only if the recipe has
 * them. release() frees all memory, also after a failure of fetch(). If generate() fails, it frees
 * its memory.
 */
typedef struct EmogiDeviceGenerator
{
	uint32_t	abi;			/* EMOGI_GENERATOR_ABI */
	EmogiStatus (*generate) (const EmogiRecipe *recipe, EmogiDeviceGraph **made, uint64_t *nvertices, uint64_t *nedges,
							 EmogiError *error);
	EmogiStatus (*fetch) (const EmogiDeviceGraph *made, const EmogiGraph *view, EmogiError *error);
	void		(*release) (EmogiDeviceGraph *made);
} EmogiDeviceGenerator;

/* The function exported by the module, looked up by dlsym. Does not call the driver. */
#define EMOGI_GENERATOR_ENTRY "emogi_device_generator"
typedef const EmogiDeviceGenerator *(*EmogiDeviceGeneratorEntry) (void);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_BENCH_DEVICE_GENERATOR_H */
