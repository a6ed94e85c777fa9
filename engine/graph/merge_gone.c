/*
 * merge_gone.c: vertices that lose their last edge.
 *
 * Only ends of edges that go can be among them, and only those whose own lists are empty then. When
 * the Graph has both orientations, or each edge both ways, their lists tell all. Else it is not
 * known how many entries lead to such a candidate: then all targets are looked through, past a
 * bitmap of the candidates, in steps that become longer, and a candidate drops out when it is seen
 * to keep an edge. Vertices that many entries lead to do so early, and often the last one does
 * before all is read.
 */
#include "graph/merge_parts.h"

#include <string.h>

#define FILTER_BITS 4096		/* at least, for few candidates */
#define FILTER_BITS_PER_CANDIDATE 256	/* so that few others look like one */
#define SCAN_ENTRIES ((uint64_t) 1 << 16)	/* that a thread takes at once */
#define SCAN_STEP 8				/* targets between two jumps */
#define FIRST_SCAN 64			/* part of the targets that is looked through first */
#define SCAN_GROWTH 4

/* What happens to the list of a vertex. */
typedef struct Group
{
	uint64_t	degree;			/* entries of the new list */
	uint64_t	leaving;		/* net, where none comes */
	bool		grows;			/* an entry comes */
} Group;

/* Get the source of an entry; no other is greater at the end. */
static inline uint64_t
source_at(const EmogiMergeSide *side, uint64_t i)
{
	return i < side->nentries ? side->entries[i].source : UINT64_MAX;
}

/* Take the entries of a source from *i on, perhaps none. */
static Group
take_group(const EmogiMergeSide *side, uint64_t *i, uint64_t source)
{
	Group		group = {0};

	for (; *i < side->nentries && side->entries[*i].source == source; (*i)++)
	{
		group.degree += (uint64_t) side->entries[*i].times;
		group.leaving -= (uint64_t) side->entries[*i].times;
		group.grows |= side->entries[*i].times > 0;
	}
	return group;
}

/* Add the old length of a vertex's list. */
static inline void
add_old_degree(const EmogiMergeSide *side, uint32_t vertex, Group *group)
{
	group->degree += side->from.offsets[vertex + 1] - side->from.offsets[vertex];
}

/* Say what becomes of a vertex that was there: gone, a candidate, or neither. */
static void
judge_vertex(EmogiMerge *splicing, uint32_t vertex, Group out, Group in)
{
	add_old_degree(&splicing->sides[0], vertex, &out);
	if (out.degree != 0)
		return;
	if (splicing->nsides > 1 && !splicing->sides[1].spliced)
	{
		if (!in.grows)
			splicing->candidates[splicing->ncandidates++] =
				(EmogiMergeCandidate) {.leaving = in.leaving, .vertex = vertex};
		return;
	}
	if (splicing->nsides > 1)
		add_old_degree(&splicing->sides[1], vertex, &in);
	if (in.degree == 0)
		splicing->gone[splicing->ngone++] = vertex;
}

/* Look at all vertices whose lists, or those that would lead to them, change. */
static void
judge_vertices(EmogiMerge *splicing)
{
	const EmogiMergeSide *sides = splicing->sides;
	uint64_t	i[2] = {0, 0};
	uint64_t	polled = 0;

	while (i[0] < sides[0].nentries || i[1] < sides[1].nentries)
	{
		const uint64_t out_source = source_at(&sides[0], i[0]);
		const uint64_t in_source = source_at(&sides[1], i[1]);
		const uint64_t source = out_source < in_source ? out_source : in_source;
		const EmogiMergeEdit *edit = i[0] < sides[0].nentries &&
			out_source == source ? &sides[0].edits[i[0]] : &sides[1].edits[i[1]];
		const Group out = take_group(&sides[0], &i[0], source);
		const Group in = take_group(&sides[1], &i[1], source);

		if (edit->source_known)
			judge_vertex(splicing, edit->source, out, in);
		if (emogi_merge_stops_at(splicing, ++polled))
			return;
	}
}

/* ---- how many entries lead to a candidate ---- */

uint64_t
emogi_merge_filter_bits(uint64_t nvertices, uint64_t ncandidates)
{
	uint64_t	nbits = FILTER_BITS;

	while (nbits < nvertices && nbits < ncandidates * FILTER_BITS_PER_CANDIDATE)
		nbits *= 2;
	return nbits;
}

/* Make the filter of those candidates that may still be gone; false when there is none. */
static bool
fill_filter(EmogiMerge *splicing)
{
	uint64_t	nbits = emogi_merge_filter_bits(splicing->nvertices, splicing->ncandidates);

	splicing->filter_mask = (uint32_t) (nbits - 1);
	memset(splicing->filter, 0, nbits / 8);
	for (uint64_t i = 0; i < splicing->ncandidates; i++)
	{
		uint32_t	bit = splicing->candidates[i].vertex & splicing->filter_mask;

		splicing->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return splicing->ncandidates > 0;
}

/* Get the bit of a vertex, at the lowest place of a word. */
static inline uint64_t
filter_bit(const uint64_t *filter, uint32_t mask, uint32_t vertex)
{
	return filter[(vertex & mask) / 64] >> vertex % 64;
}

/* Count an entry that leads to a vertex, if that is a candidate. */
static void
count_entry(EmogiMerge *splicing, uint32_t vertex)
{
	EmogiMergeCandidate *candidates = splicing->candidates;
	uint64_t	low = 0;
	uint64_t	high = splicing->ncandidates;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (candidates[middle].vertex < vertex)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < splicing->ncandidates && candidates[low].vertex == vertex &&
		__atomic_load_n(&candidates[low].found, __ATOMIC_RELAXED) <= candidates[low].leaving)
		__atomic_fetch_add(&candidates[low].found, 1, __ATOMIC_RELAXED);
}

/* Look through targets. */
static void
scan_targets(EmogiMerge *splicing, const uint32_t *targets, uint64_t count)
{
	const uint64_t *filter = splicing->filter;
	const uint32_t mask = splicing->filter_mask;
	uint64_t	i = 0;

	for (; i + SCAN_STEP <= count; i += SCAN_STEP)
	{
		uint64_t	any = 0;

		for (int k = 0; k < SCAN_STEP; k++)
			any |= filter_bit(filter, mask, targets[i + k]);
		if ((any & 1) == 0)
			continue;
		for (int k = 0; k < SCAN_STEP; k++)
		{
			if (filter_bit(filter, mask, targets[i + k]) & 1)
				count_entry(splicing, targets[i + k]);
		}
	}
	for (; i < count; i++)
	{
		if (filter_bit(filter, mask, targets[i]) & 1)
			count_entry(splicing, targets[i]);
	}
}

/* Look through the targets up to scan_end. */
static void
scan_entries(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	const uint64_t end = splicing->scan_end;
	uint64_t	i;

	while (!emogi_job_stopped(&splicing->job) &&
		   (i = emogi_job_take(&splicing->next, SCAN_ENTRIES)) < end)
		scan_targets(splicing, splicing->sides[0].from.targets + i,
					 end - i < SCAN_ENTRIES ? end - i : SCAN_ENTRIES);
}

/* Leave those candidates that may still be gone. */
static void
drop_candidates(EmogiMerge *splicing)
{
	uint64_t	nleft = 0;

	for (uint64_t i = 0; i < splicing->ncandidates; i++)
	{
		if (splicing->candidates[i].found <= splicing->candidates[i].leaving)
			splicing->candidates[nleft++] = splicing->candidates[i];
	}
	splicing->ncandidates = nleft;
}

/* Look through all targets, or until no candidate is left. */
static void
scan_all(EmogiPool *pool, EmogiMerge *splicing)
{
	const uint64_t nentries = splicing->sides[0].from.nedges;
	uint64_t	length = (nentries / FIRST_SCAN / SCAN_ENTRIES + 1) * SCAN_ENTRIES;

	splicing->next = 0;
	for (splicing->scan_end = 0; splicing->scan_end < nentries && fill_filter(splicing);
		 length *= SCAN_GROWTH)
	{
		splicing->next = splicing->scan_end;
		splicing->scan_end = nentries - splicing->scan_end < length ? nentries
			: splicing->scan_end + length;
		emogi_pool_run(pool, scan_entries, splicing);
		if (emogi_job_stopped(&splicing->job))
			return;
		drop_candidates(splicing);
	}
}

bool
emogi_merge_find_gone(EmogiPool *pool, EmogiMerge *splicing)
{
	splicing->ngone = 0;
	splicing->ncandidates = 0;
	if (!splicing->removes)
		return true;
	judge_vertices(splicing);
	if (splicing->ncandidates > 0)
	{
		scan_all(pool, splicing);
		for (uint64_t i = 0; i < splicing->ncandidates; i++)
			splicing->gone[splicing->ngone++] = splicing->candidates[i].vertex;
	}
	return !emogi_job_stopped(&splicing->job);
}
