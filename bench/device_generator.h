/*
 * device_generator.h: the contract between emogi_bench and emogi_bench_cuda.so, which makes synthetic graphs on a GPU.
 */
#ifndef EMOGI_BENCH_DEVICE_GENERATOR_H
#define EMOGI_BENCH_DEVICE_GENERATOR_H

#include "edge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever something below or the graphs do; a module of another build is refused. */
#define EMOGI_GENERATOR_ABI 2

/* A Graph in device memory. */
typedef struct EmogiDeviceGraph EmogiDeviceGraph;

/*
 * generate() makes the Graph that emogi_generate, emogi_build_graph(EMOGI_BOTH) and emogi_remove_repeats make of a recipe,
 * bit for bit, and says how large it is; fetch() copies it into a view that emogi_csr_view has laid out for that size (weights
 * only where the recipe has any); release() frees all that was taken, also after a failure of fetch(). A failure of
 * generate() leaves nothing taken.
 */
typedef struct EmogiDeviceGenerator
{
	uint32_t	abi;			/* EMOGI_GENERATOR_ABI */
	EmogiStatus (*generate) (const EmogiRecipe *recipe, EmogiDeviceGraph **made, uint64_t *nvertices, uint64_t *nedges,
							 EmogiError *error);
	EmogiStatus (*fetch) (const EmogiDeviceGraph *made, const EmogiGraph *view, EmogiError *error);
	void		(*release) (EmogiDeviceGraph *made);
} EmogiDeviceGenerator;

/* What the module exports; looked up by dlsym. Returns without touching the driver. */
#define EMOGI_GENERATOR_ENTRY "emogi_device_generator"
typedef const EmogiDeviceGenerator *(*EmogiDeviceGeneratorEntry) (void);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_BENCH_DEVICE_GENERATOR_H */
