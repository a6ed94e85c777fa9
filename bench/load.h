/*
 * load.h: what emogi_bench takes from modules: the CUDA engine and the generator of graphs on a GPU.
 */
#ifndef EMOGI_BENCH_LOAD_H
#define EMOGI_BENCH_LOAD_H

#include "device_generator.h"
#include "options.h"

/* Get an engine; never returns without one. */
extern const EmogiEngine *emogi_bench_engine(const EmogiBenchOptions *options, bool cuda);

/* Get what makes graphs on a GPU; never returns without it. */
extern const EmogiDeviceGenerator *emogi_bench_device_generator(const EmogiBenchOptions *options);

#endif							/* EMOGI_BENCH_LOAD_H */
