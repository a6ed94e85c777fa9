/*
 * outlook.c: where a call would find its Graph, for EXPLAIN, which gets none.
 */
#include "postgres.h"

#include "access/relation.h"

#include "build/wish.h"
#include "cache/live_state.h"

/* Say where a call would find the Graph of heaps. */
static EmogiOutlook
foresee_heaps(const EmogiSource *source, const EmogiGraphKey *wanted, List *leaves, EmogiWalk *walk)
{
	EmogiWish  *wish = emogi_wish_make(source, NULL, wanted);
	const bool	may_share = emogi_wish_may_share(wish, leaves);
	EmogiOutlook outlook = may_share ? EMOGI_GRAPH_WILL_BE_BUILT : EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (may_share && emogi_wish_is_cached(wish))
		outlook = EMOGI_GRAPH_IS_CACHED;
	else if (walk != NULL && emogi_walk_may_lead(source) && emogi_instead_will_walk(source, leaves, wish, may_share, walk))
		outlook = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (wish->can_follow && emogi_live_state_exists(&wish->key))
		outlook = EMOGI_GRAPH_WILL_BE_REFRESHED;
	emogi_wish_free(wish);
	return outlook;
}

/* Say where a call would find the Graph of a tree, and why it would be private. */
static EmogiOutlook
foresee_tree(const EmogiSource *source, const EmogiTree *tree, const EmogiGraphKey *wanted, EmogiWalk *walk, const char **why_private)
{
	const EmogiSource *walked = tree->filtered;
	bool		may_share;
	EmogiWish  *wish;
	EmogiOutlook outlook = EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (tree->refusal != NULL)
	{
		*why_private = tree->refusal;
		return outlook;
	}
	wish = emogi_wish_make(source, tree, wanted);
	may_share = emogi_wish_may_share(wish, tree->leaves);
	if (may_share && emogi_wish_is_cached(wish))
		outlook = EMOGI_GRAPH_IS_CACHED;
	else if (walk != NULL && walked != NULL && emogi_walk_may_lead(walked) && emogi_instead_will_walk(walked, tree->leaves, wish, may_share, walk))
		outlook = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (!may_share)
		*why_private = emogi_wish_why_not(wish);
	else if (wish->can_follow && emogi_live_state_exists(&wish->key))
		outlook = EMOGI_GRAPH_WILL_BE_REFRESHED;
	else if (tree->is_folded && emogi_wish_asked_first(wish, false))
		*why_private = EMOGI_NOT_ASKED_BEFORE;
	else
		outlook = EMOGI_GRAPH_WILL_BE_BUILT;
	emogi_wish_free(wish);
	return outlook;
}

/* May a Source be read as heaps by the caller? Lists them. Raises 42501. */
static bool
is_of_heaps(const EmogiSource *source, List **leaves)
{
	Relation	rel;
	bool		row_security;

	if (source->is_query)
		return false;
	rel = relation_open(source->relid, NoLock);
	row_security = emogi_access_check(rel, source);
	relation_close(rel, NoLock);
	return !row_security && emogi_heap_scan_possible(source, leaves);
}

/*
 * Where would a call find its Graph, as the active snapshot sees it? walk: it is a search that may do without, and walk->names the indexes
 * then; NULL = it is none. *why_private: why that of a query or view would be built for the
 * call alone; NULL = nothing is to be said. Raises what keeps the caller from reading the Source.
 */
EmogiOutlook
emogi_outlook(const EmogiSource *source, const EmogiGraphKey *wanted, EmogiWalk *walk, const char **why_private)
{
	List	   *leaves;
	EmogiTree  *tree;
	EmogiOutlook outlook;

	*why_private = NULL;
	if (is_of_heaps(source, &leaves))
		return foresee_heaps(source, wanted, leaves, walk);
	tree = emogi_tree_peek(source);
	outlook = foresee_tree(source, tree, wanted, walk, why_private);
	if (*why_private != NULL)
		*why_private = pstrdup(*why_private);
	emogi_tree_close(tree);
	return outlook;
}
