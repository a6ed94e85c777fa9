/*
 * verify.c: which verifier a query asks for.
 */
#include "verify.h"

#include "check.h"

bool
emogi_verify_bfs(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	EmogiCheck	check = {.graph = graph, .query = query, .result = result, .error = error};

	return emogi_check_bfs(&check);
}

bool
emogi_verify_parallel(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
					  EmogiError *error)
{
	static bool (*const verifiers[EMOGI_NALGORITHMS]) (EmogiCheck *check) = {
		[EMOGI_BFS] = emogi_check_bfs,
#define PATH(NAME, name, order, source, traits) [EMOGI_##NAME] = emogi_check_path,
		EMOGI_PATH_APPLICATIONS(PATH)
#undef PATH
		[EMOGI_SSNSP] = emogi_check_ssnsp,
		[EMOGI_CC] = emogi_check_cc,
		[EMOGI_PAGERANK] = emogi_check_pagerank,
#define SUM(NAME, name, direction, weights, traits) [EMOGI_##NAME] = emogi_check_values,
		EMOGI_SUM_APPLICATIONS(SUM)
#undef SUM
	};
	EmogiCheck	check = {.pool = pool, .graph = graph, .query = query, .result = result, .error = error};

	if ((unsigned int) query->algorithm >= EMOGI_NALGORITHMS)
		return emogi_check_wrong(&check, "no such algorithm");
	return verifiers[query->algorithm] (&check);
}

bool
emogi_verify(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	return emogi_verify_parallel(NULL, graph, query, result, error);
}
