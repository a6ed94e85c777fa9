/*
 * merge_derivation.c: describe how the new arrays derive from the old ones (contract/derivation.h).
 */
#include "graph/merge_parts.h"

/* Write the edits of a direction. */
static void
write_edits(EmogiMerge *merge, const EmogiMergeSide *side, EmogiEdit *out)
{
	*out++ = (EmogiEdit) {0};
	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i); i++)
	{
		const EmogiMergeEntry *entry = &side->entries[i];
		const EmogiMergeEdit *edit = &side->edits[i];

		out[i] = (EmogiEdit) {
			.to = edit->place + edit->shift,
			.shift = edit->shift + (uint64_t) entry->times,
			.times = entry->times > 0 ? (uint64_t) entry->times : 0,
			.weight = merge->type == EMOGI_WEIGHT_NONE ? 0.0 : emogi_merge_weight(entry),
			.target = edit->target,
			.after = edit->after
		};
	}
}

/* Write the breaks. */
static void
write_breaks(EmogiMerge *merge, EmogiBreak *out)
{
	*out++ = (EmogiBreak) {0, 0};
	for (uint64_t i = 0; i < merge->nbreaks && !emogi_merge_stops_at(merge, i); i++)
		out[i] = (EmogiBreak) {merge->breaks[i].old, merge->breaks[i].from};
}

bool
emogi_merge_derive(EmogiMerge *merge)
{
	EmogiDerivation *derivation = merge->input->derivation;

	if (derivation == NULL)
		return true;
	*derivation = (EmogiDerivation) {.nbreaks = merge->nbreaks,
		.renumbers = merge->renumbers};
	if (merge->new_nvertices == 0)
		return true;
	for (int i = 0; i < merge->nsides; i++)
	{
		if (!merge->sides[i].merged)
			continue;
		write_edits(merge, &merge->sides[i], merge->derivation_edits[i]);
		derivation->nedits[i] = merge->sides[i].nentries;
		derivation->edits[i] = merge->derivation_edits[i];
	}
	write_breaks(merge, merge->derivation_breaks);
	derivation->breaks = merge->derivation_breaks;
	return !emogi_job_stopped(&merge->job);
}
