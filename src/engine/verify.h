/*
 * verify.h: is an answer right? By definition, not against another run, and by one thread: for tests and benchmarks.
 *
 * Each says whether result is the answer to a query of its algorithms and, if not, why, in error->message. They need
 * some bytes of memory a vertex; without them the answer counts as wrong.
 */
#ifndef EMOGI_VERIFY_H
#define EMOGI_VERIFY_H

#include "engine.h"

typedef bool (EmogiVerifier) (const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
							  EmogiError *error);

/* The one that the query's algorithm asks for. */
extern EmogiVerifier emogi_verify;

extern EmogiVerifier emogi_verify_bfs;	/* verify.c */
extern EmogiVerifier emogi_verify_path; /* verify_path.c: SSSP, SSWP */
extern EmogiVerifier emogi_verify_ssnsp;	/* verify_path.c */
extern EmogiVerifier emogi_verify_cc;	/* verify_cc.c */
extern EmogiVerifier emogi_verify_sum;	/* verify_sum.c: PAGERANK, HEAT, CIRCUIT, NEURAL */

#endif							/* EMOGI_VERIFY_H */
