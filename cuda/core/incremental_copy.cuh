/*
 * incremental_copy.cuh: the kept copies of a Graph's arrays, made of those of the Graph that it comes from: only the changes cross the link.
 */
#ifndef EMOGI_INCREMENTAL_COPY_CUH
#define EMOGI_INCREMENTAL_COPY_CUH

#include "cuda/core/device.cuh"

/* Do what the contract's derive() says; the device is current. */
extern EmogiStatus emogi_incremental_copy(EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph,
								const EmogiDerivation *derivation, EmogiControl *control, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_incremental_copy_load(EmogiError *error);

#endif							/* EMOGI_INCREMENTAL_COPY_CUH */
