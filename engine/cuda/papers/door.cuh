/*
 * door.cuh: all that the engine knows of the papers' systems.
 */
#ifndef EMOGI_DOOR_CUH
#define EMOGI_DOOR_CUH

#include "cuda/run.cuh"

/*
 * Choose what answers a query as one of the papers' systems does, if it asks for one; otherwise *algorithm stays. BAD_INPUT
 * when it asks for what there is not.
 */
extern EmogiStatus emogi_papers_choose(const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error);

#endif							/* EMOGI_DOOR_CUH */
