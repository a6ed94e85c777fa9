/*
 * load.h: load modules for emogi_bench: the CUDA engine and the GPU graph generator.
 */
#ifndef EMOGI_BENCH_LOAD_H
#define EMOGI_BENCH_LOAD_H

#include "device_generator.h"
#include "options.h"

/* Get an engine; exits on failure. */
extern const EmogiEngine *emogi_bench_engine(const EmogiBenchOptions *options, bool cuda);

/* Get the GPU generator; exits on failure. */
extern const EmogiDeviceGenerator *emogi_bench_device_generator(const EmogiBenchOptions *options);

#endif							/* EMOGI_BENCH_LOAD_H */
