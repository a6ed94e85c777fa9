/*
 * verify_query.c: which verifier a query asks for.
 */
#include "verify.h"

#include "verify_wrong.h"

bool
emogi_verify(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	static EmogiVerifier *const verifiers[EMOGI_NALGORITHMS] = {
		[EMOGI_BFS] = emogi_verify_bfs,
		[EMOGI_SSSP] = emogi_verify_path,
		[EMOGI_SSWP] = emogi_verify_path,
		[EMOGI_SSNSP] = emogi_verify_ssnsp,
		[EMOGI_CC] = emogi_verify_cc,
		[EMOGI_PAGERANK] = emogi_verify_sum,
		[EMOGI_HEAT] = emogi_verify_sum,
		[EMOGI_CIRCUIT] = emogi_verify_sum,
		[EMOGI_NEURAL] = emogi_verify_sum
	};

	if ((unsigned int) query->algorithm >= EMOGI_NALGORITHMS)
		return emogi_wrong(error, "no such algorithm");
	return verifiers[query->algorithm] (graph, query, result, error);
}
