/*
 * bfs_summary.c: aggregates of a search's rows, computed from the number of vertices on each level.
 *
 * A search counts the vertices of each level as it makes it. The counts suffice for count(*), for
 * groups by level, and for min, max and sum of levels, also within a range of levels; the search
 * then writes no levels. Aggregates over vertex numbers, and queries for the first rows, still need
 * the levels.
 */
#include "bfs_summary.h"

/*
 * Check whether the levels' counts suffice for a summary. They do not if there are targets, because
 * such a search may stop before all levels are made.
 */
static bool
is_of_levels(const EmogiQuery *query)
{
	const EmogiSummary *summary = query->summary;

	if (summary == NULL || summary->kind != EMOGI_SUMMARY_GROUPS || query->ntargets > 0)
		return false;
	for (int i = 0; i < summary->nfolds; i++)
		if (summary->folds[i].column != 0)
			return false;
	return true;
}

/* Begin a group that has no rows yet. */
static void
begin_group(EmogiBfsSummary *summary, int64_t label)
{
	const EmogiSummary *wanted = summary->wanted;

	wanted->labels[summary->ngroups] = label;
	wanted->counts[summary->ngroups] = 0;
	for (int i = 0; i < wanted->nfolds; i++)
		wanted->values[summary->ngroups * (uint64_t) wanted->nfolds + (uint64_t) i].integer = 0;
	summary->ngroups++;
}

void
emogi_bfs_summary_begin(EmogiBfsSummary *summary, const EmogiQuery *query)
{
	*summary = (EmogiBfsSummary) {.wanted = is_of_levels(query) ? query->summary : NULL};
	if (summary->wanted != NULL && summary->wanted->column < 0)
		begin_group(summary, 0);
}

/*
 * Fold `count` rows of one level into a value of a group that has `before` rows. Levels come in
 * ascending order.
 */
static void
fold_level(EmogiFoldKind kind, int32_t level, uint64_t count, uint64_t before,
		   EmogiSummaryValue *value)
{
	if (kind == EMOGI_FOLD_SUM)
		value->integer += level * (int64_t) count;
	else if (kind == EMOGI_FOLD_MAX || before == 0)
		value->integer = level;
}

void
emogi_bfs_summary_add(EmogiBfsSummary *summary, int32_t level, uint64_t count)
{
	const EmogiSummary *wanted = summary->wanted;
	const EmogiRange *range;
	uint64_t	group;

	if (wanted == NULL || summary->is_full)
		return;
	range = &wanted->ranges[0];
	if (range->given && (level < range->min || level > range->max))
		return;
	if (wanted->column >= 0)
	{
		if (summary->ngroups == wanted->room)
		{
			summary->is_full = true;
			return;
		}
		begin_group(summary, level);
	}
	group = summary->ngroups - 1;
	for (int i = 0; i < wanted->nfolds; i++)
		fold_level(wanted->folds[i].kind, level, count, wanted->counts[group],
				   &wanted->values[group * (uint64_t) wanted->nfolds + (uint64_t) i]);
	wanted->counts[group] += count;
}

void
emogi_bfs_summary_end(const EmogiBfsSummary *summary, EmogiResult *result)
{
	if (summary->wanted == NULL || summary->is_full)
		return;
	result->is_summarized = true;
	result->nsummarized = summary->ngroups;
}
