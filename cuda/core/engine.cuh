/*
 * engine.cuh: how a room that this one does not need, the papers' systems, takes part.
 */
#ifndef EMOGI_ENGINE_CUH
#define EMOGI_ENGINE_CUH

#include "cuda/core/run.cuh"

/*
 * Choose what else answers a query, if it asks for that; otherwise *algorithm, which may be NULL, stays. BAD_INPUT when it asks
 * for what there is not.
 */
typedef EmogiStatus (*ChooseAlgorithm) (const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error);

/* Have every query ask this; called when the library is loaded. */
extern void emogi_engine_offer(ChooseAlgorithm choose);

#endif							/* EMOGI_ENGINE_CUH */
