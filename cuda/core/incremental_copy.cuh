/*
 * incremental_copy.cuh: device copies of a changed graph's arrays, made from the copies of its base
 * graph: only the changes cross the link.
 */
#ifndef EMOGI_INCREMENTAL_COPY_CUH
#define EMOGI_INCREMENTAL_COPY_CUH

#include "cuda/core/device.cuh"

/* Implement the engine contract's derive(). The device must be current. */
extern EmogiStatus emogi_incremental_copy(EmogiEngineState *state, const EmogiGraph *old,
										  const EmogiGraph *graph,
										  const EmogiDerivation *derivation, EmogiControl *control,
										  EmogiError *error);

#endif							/* EMOGI_INCREMENTAL_COPY_CUH */
