/*
 * merge_derivation.c: tells others how the new arrays come from the old ones:
 * contract/derivation.h.
 */
#include "graph/merge_parts.h"

/* Write the edits of an orientation. */
static void
tell_edits(EmogiMerge *splicing, const EmogiMergeSide *side, EmogiEdit *told)
{
	*told++ = (EmogiEdit) {0};
	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i); i++)
	{
		const EmogiMergeEntry *entry = &side->entries[i];
		const EmogiMergeEdit *edit = &side->edits[i];

		told[i] = (EmogiEdit) {
			.to = edit->place + edit->shift,
			.shift = edit->shift + (uint64_t) entry->times,
			.times = entry->times > 0 ? (uint64_t) entry->times : 0,
			.weight = splicing->type == EMOGI_WEIGHT_NONE ? 0.0 : emogi_merge_weight(entry),
			.target = edit->target,
			.after = edit->after
		};
	}
}

/* Write the breaks. */
static void
tell_breaks(EmogiMerge *splicing, EmogiBreak *told)
{
	*told++ = (EmogiBreak) {0, 0};
	for (uint64_t i = 0; i < splicing->nbreaks && !emogi_merge_stops_at(splicing, i); i++)
		told[i] = (EmogiBreak) {splicing->breaks[i].old, splicing->breaks[i].from};
}

bool
emogi_merge_tell(EmogiMerge *splicing)
{
	EmogiDerivation *derivation = splicing->input->derivation;

	if (derivation == NULL)
		return true;
	*derivation = (EmogiDerivation) {.nbreaks = splicing->nbreaks,
		.renumbers = splicing->renumbers};
	if (splicing->new_nvertices == 0)
		return true;
	for (int i = 0; i < splicing->nsides; i++)
	{
		if (!splicing->sides[i].spliced)
			continue;
		tell_edits(splicing, &splicing->sides[i], splicing->told_edits[i]);
		derivation->nedits[i] = splicing->sides[i].nentries;
		derivation->edits[i] = splicing->told_edits[i];
	}
	tell_breaks(splicing, splicing->told_breaks);
	derivation->breaks = splicing->told_breaks;
	return !emogi_job_stopped(&splicing->job);
}
