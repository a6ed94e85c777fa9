/*
 * verify.h: is an answer right? By definition and by one thread: for tests and benchmarks.
 */
#ifndef EMOGI_VERIFY_H
#define EMOGI_VERIFY_H

#include "engine.h"

/*
 * Say whether level[nvertices] is the answer to an EMOGI_BFS query and nreached its count; if not, why, in
 * error->message. Needs nvertices / 8 bytes of memory; without them the answer counts as wrong.
 */
extern bool emogi_verify_bfs(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
							 EmogiError *error);

#endif							/* EMOGI_VERIFY_H */
