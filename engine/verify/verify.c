/*
 * verify.c: selection of the verifier for a query.
 */
#include "verify.h"

#include "check.h"

bool
emogi_verify_parallel(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					  const EmogiResult *result,
					  EmogiError *error)
{
	static bool (*const verifiers[]) (EmogiCheck *check) = {
#define OTHER(NAME, name, cpu, cuda, papers, verifier, \
			  ...) [EMOGI_##NAME] = emogi_verify_##verifier,
#define PATH(NAME, ...) [EMOGI_##NAME] = emogi_verify_path,
#define SUM(NAME, ...) [EMOGI_##NAME] = emogi_verify_values,
		EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
	};
	EmogiCheck	check = {.pool = pool, .graph = graph, .query = query, .result = result,
		.error = error};

	if ((unsigned int) query->algorithm >= EMOGI_NALGORITHMS)
		return emogi_check_wrong(&check, "no such algorithm");
	return verifiers[query->algorithm] (&check);
}

bool
emogi_verify(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
			 EmogiError *error)
{
	return emogi_verify_parallel(NULL, graph, query, result, error);
}
