/*
 * merge_removed.c: vertices that lose their last edge.
 *
 * Only ends of removed edges can be among them, and of those only vertices whose own lists become
 * empty. If the graph has both directions, or each edge in both, their lists decide. Otherwise it
 * is not known how many entries lead to such a candidate: then all targets are scanned, through a
 * Bloom filter of the candidates, in steps of increasing length, and a candidate is dropped when it
 * is seen to keep an edge. Vertices of high in-degree are dropped early, and often the scan ends
 * before all targets are read.
 */
#include "graph/merge_parts.h"

#include <string.h>

#define FILTER_BITS 4096		/* minimum, for few candidates */
#define FILTER_BITS_PER_CANDIDATE 256	/* such that few other vertices pass */
#define SCAN_ENTRIES ((uint64_t) 1 << 16)	/* that a thread takes at a time */
#define SCAN_STEP 8				/* targets between two branches */
#define FIRST_SCAN 64			/* fraction of the targets that is scanned first */
#define SCAN_GROWTH 4

/* The change of a vertex's list. */
typedef struct Group
{
	uint64_t	degree;			/* entries of the new list */
	uint64_t	leaving;		/* removed entries, net, if none is added */
	bool		grows;			/* an entry is added */
} Group;

/* Get the source of an entry; UINT64_MAX at the end. */
static inline uint64_t
source_at(const EmogiMergeSide *side, uint64_t i)
{
	return i < side->nentries ? side->entries[i].source : UINT64_MAX;
}

/* Consume the entries of a source from *i on, possibly none. */
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

/* Classify an old vertex: gone, a candidate, or neither. */
static void
classify_vertex(EmogiMerge *merge, uint32_t vertex, Group out, Group in)
{
	add_old_degree(&merge->sides[0], vertex, &out);
	if (out.degree != 0)
		return;
	if (merge->nsides > 1 && !merge->sides[1].merged)
	{
		if (!in.grows)
			merge->candidates[merge->ncandidates++] =
				(EmogiMergeCandidate) {.leaving = in.leaving, .vertex = vertex};
		return;
	}
	if (merge->nsides > 1)
		add_old_degree(&merge->sides[1], vertex, &in);
	if (in.degree == 0)
		merge->gone[merge->ngone++] = vertex;
}

/* Classify all vertices whose lists, or those that would lead to them, change. */
static void
classify_vertices(EmogiMerge *merge)
{
	const EmogiMergeSide *sides = merge->sides;
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
			classify_vertex(merge, edit->source, out, in);
		if (emogi_merge_stops_at(merge, ++polled))
			return;
	}
}

/* ---- in-degrees of candidates ---- */

uint64_t
emogi_merge_filter_bits(uint64_t nvertices, uint64_t ncandidates)
{
	uint64_t	nbits = FILTER_BITS;

	while (nbits < nvertices && nbits < ncandidates * FILTER_BITS_PER_CANDIDATE)
		nbits *= 2;
	return nbits;
}

/* Make the filter of the remaining candidates; false if there are none. */
static bool
fill_filter(EmogiMerge *merge)
{
	uint64_t	nbits = emogi_merge_filter_bits(merge->nvertices, merge->ncandidates);

	merge->filter_mask = (uint32_t) (nbits - 1);
	memset(merge->filter, 0, nbits / 8);
	for (uint64_t i = 0; i < merge->ncandidates; i++)
	{
		uint32_t	bit = merge->candidates[i].vertex & merge->filter_mask;

		merge->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return merge->ncandidates > 0;
}

/* Get the filter's bit of a vertex, as the lowest bit of a word. */
static inline uint64_t
filter_bit(const uint64_t *filter, uint32_t mask, uint32_t vertex)
{
	return filter[(vertex & mask) / 64] >> vertex % 64;
}

/* Count an entry that leads to a vertex, if the vertex is a candidate. */
static void
count_entry(EmogiMerge *merge, uint32_t vertex)
{
	EmogiMergeCandidate *candidates = merge->candidates;
	const uint64_t low = EMOGI_PARTITION_POINT(0, merge->ncandidates, middle,
											   candidates[middle].vertex < vertex);

	if (low < merge->ncandidates && candidates[low].vertex == vertex &&
		__atomic_load_n(&candidates[low].found, __ATOMIC_RELAXED) <= candidates[low].leaving)
		__atomic_fetch_add(&candidates[low].found, 1, __ATOMIC_RELAXED);
}

/* Scan targets. */
static void
scan_targets(EmogiMerge *merge, const uint32_t *targets, uint64_t count)
{
	const uint64_t *filter = merge->filter;
	const uint32_t mask = merge->filter_mask;
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
				count_entry(merge, targets[i + k]);
		}
	}
	for (; i < count; i++)
	{
		if (filter_bit(filter, mask, targets[i]) & 1)
			count_entry(merge, targets[i]);
	}
}

/* Scan the targets up to scan_end. */
static void
scan_entries(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	const uint64_t end = merge->scan_end;
	uint64_t	i;

	while (!emogi_job_stopped(&merge->job) &&
		   (i = emogi_job_claim(&merge->next, SCAN_ENTRIES)) < end)
		scan_targets(merge, merge->sides[0].from.targets + i,
					 end - i < SCAN_ENTRIES ? end - i : SCAN_ENTRIES);
}

/* Drop the candidates that keep an edge. */
static void
drop_candidates(EmogiMerge *merge)
{
	uint64_t	nleft = 0;

	for (uint64_t i = 0; i < merge->ncandidates; i++)
	{
		if (merge->candidates[i].found <= merge->candidates[i].leaving)
			merge->candidates[nleft++] = merge->candidates[i];
	}
	merge->ncandidates = nleft;
}

/* Scan all targets, or until no candidate is left. */
static void
scan_all(EmogiPool *pool, EmogiMerge *merge)
{
	const uint64_t nentries = merge->sides[0].from.nedges;
	uint64_t	length = (nentries / FIRST_SCAN / SCAN_ENTRIES + 1) * SCAN_ENTRIES;

	merge->next = 0;
	for (merge->scan_end = 0; merge->scan_end < nentries && fill_filter(merge);
		 length *= SCAN_GROWTH)
	{
		merge->next = merge->scan_end;
		merge->scan_end = nentries - merge->scan_end < length ? nentries
			: merge->scan_end + length;
		emogi_pool_run(pool, scan_entries, merge);
		if (emogi_job_stopped(&merge->job))
			return;
		drop_candidates(merge);
	}
}

bool
emogi_merge_find_removed(EmogiPool *pool, EmogiMerge *merge)
{
	merge->ngone = 0;
	merge->ncandidates = 0;
	if (!merge->removes)
		return true;
	classify_vertices(merge);
	if (merge->ncandidates > 0)
	{
		scan_all(pool, merge);
		for (uint64_t i = 0; i < merge->ncandidates; i++)
			merge->gone[merge->ngone++] = merge->candidates[i].vertex;
	}
	return !emogi_job_stopped(&merge->job);
}
