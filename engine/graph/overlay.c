/*
 * overlay.c: overlay of a few edge changes on a graph: the changed adjacency lists, as pieces of
 * old and new edges
 *
 * The net changes and their places in the old lists are found as for a merge (merge_parts.h), by
 * the calling thread alone.
 */
#include "contract/overlay.h"

#include "layout.h"
#include "threads/radix.h"
#include "graph/merge_parts.h"
#include "weights.h"

#include <string.h>

/*
 * Get the maximum number of edges added to lists. An edge is in two lists if lists have both
 * directions.
 */
static uint64_t
max_added(const EmogiMergeInput *input)
{
	uint64_t	added = 0;

	for (uint64_t i = 0; i < input->nchanges; i++)
		added += input->changes[i].times > 0 ? (uint64_t) input->changes[i].times : 0;
	return input->direction == EMOGI_BOTH ? 2 * added : added;
}

/* Get the maximum number of changes of lists. */
static uint64_t
max_changes(const EmogiMergeInput *input)
{
	return input->direction == EMOGI_BOTH ? 2 * input->nchanges : input->nchanges;
}

/* The lists of one direction under construction. */
typedef struct ListBuilder
{
	EmogiOverlayLists *changed_lists;
	uint64_t	npieces;
	uint64_t	nadded;
	uint32_t   *targets;		/* [added], targets of added edges */
	char	   *weights;		/* [added], of type */
	EmogiWeightType type;
} ListBuilder;

/* The layout of an overlay's memory. */
typedef struct Layout
{
	EmogiMerge merge;
	EmogiOverlay overlay;
	ListBuilder		builders[2];
	uint64_t   *keys;			/* [2 * changes], endpoint keys */
	uint64_t   *key_scratch;
} Layout;

/* Lay out the memory of an overlay from an address on; return its end. */
static uintptr_t
lay_out(Layout *layout, const EmogiMergeInput *input, uintptr_t place)
{
	const uint64_t nentries = max_changes(input);
	const uint64_t nadded = max_added(input);
	const size_t weight_bytes = emogi_weight_bytes(input->weight_type);

	for (int i = 0; i < 2; i++)
	{
		EmogiMergeSide *side = &layout->merge.sides[i];
		ListBuilder	   *builders = &layout->builders[i];
		EmogiOverlayLists *changed_lists = i == 0 ? &layout->overlay.forward :
			&layout->overlay.backward;

		side->entries = emogi_carve(&place, nentries * sizeof(*side->entries));
		side->spare = emogi_carve(&place, nentries * sizeof(*side->spare));
		side->edits = emogi_carve(&place, (nentries + 1) * sizeof(*side->edits));
		changed_lists->bits = emogi_hash_bits(4, nentries);
		changed_lists->lists =
			emogi_carve(&place, sizeof(*changed_lists->lists) << changed_lists->bits);
		changed_lists->pieces =
			emogi_carve(&place, (3 * nentries + 1) * sizeof(*changed_lists->pieces));
		*builders = (ListBuilder) {.changed_lists = changed_lists, .type = input->weight_type};
		builders->targets = emogi_carve(&place, nadded * sizeof(*builders->targets));
		builders->weights = emogi_carve(&place, nadded * weight_bytes);
	}
	layout->keys = emogi_carve(&place, 2 * nentries * sizeof(*layout->keys));
	layout->key_scratch = emogi_carve(&place, (2 * nentries + 1) * sizeof(*layout->key_scratch));
	layout->overlay.new_keys =
		emogi_carve(&place, 2 * nentries * sizeof(*layout->overlay.new_keys));
	layout->overlay.losers = emogi_carve(&place, 2 * nentries * sizeof(*layout->overlay.losers));
	return place;
}

size_t
emogi_overlay_bytes(const EmogiMergeInput *input)
{
	Layout		layout;

	return (size_t) lay_out(&layout, input, 0);
}

/* ---- vertices ---- */

/* Sort numbers and remove duplicates; return how many remain. */
static uint64_t
sort_distinct(Layout *layout, uint64_t count)
{
	uint64_t	kept = 0;

	emogi_radix_sort_u64(layout->keys, count, layout->key_scratch, count + 1,
						 &layout->merge.job);
	for (uint64_t i = 0; i < count; i++)
	{
		if (kept == 0 || layout->keys[kept - 1] != layout->keys[i])
			layout->keys[kept++] = layout->keys[i];
	}
	return kept;
}

/* List the keys that the graph does not have. */
static void
list_new(Layout *layout)
{
	const EmogiMergeSide *side = &layout->merge.sides[0];
	EmogiOverlay *overlay = &layout->overlay;
	uint64_t	count = 0;

	for (uint64_t i = 0; i < side->nentries; i++)
	{
		if (!side->edits[i].source_known)
			layout->keys[count++] = side->entries[i].source;
		if (!side->edits[i].target_known)
			layout->keys[count++] = side->entries[i].target;
	}
	overlay->nnew = sort_distinct(layout, count);
	for (uint64_t i = 0; i < overlay->nnew; i++)
		overlay->new_keys[i] = emogi_merge_key(layout->keys[i]);
}

/* List the vertices that lose an edge. */
static void
list_losers(Layout *layout)
{
	const EmogiMergeSide *side = &layout->merge.sides[0];
	EmogiOverlay *overlay = &layout->overlay;
	uint64_t	count = 0;

	for (uint64_t i = 0; i < side->nentries; i++)
	{
		if (side->entries[i].times > 0)
			continue;
		layout->keys[count++] = side->edits[i].source;
		layout->keys[count++] = side->edits[i].target;
	}
	overlay->nlosers = sort_distinct(layout, count);
	for (uint64_t i = 0; i < overlay->nlosers; i++)
		overlay->losers[i] = (uint32_t) layout->keys[i];
}

/* Count the new keys below a key. */
static uint64_t
count_below(const EmogiOverlay *overlay, int64_t key)
{
	return EMOGI_PARTITION_POINT(0, overlay->nnew, middle,
								 overlay->new_keys[emogi_overlay_new(overlay, middle)] < key);
}

uint32_t
emogi_overlay_new_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay, int64_t key)
{
	const uint64_t i = count_below(overlay, key);

	if (i == overlay->nnew || overlay->new_keys[emogi_overlay_new(overlay, i)] != key)
		return EMOGI_NO_VERTEX;
	return (uint32_t) (graph->nvertices + emogi_overlay_new(overlay, i));
}

uint64_t
emogi_overlay_rank(const EmogiOverlay *overlay, uint64_t place)
{
	return overlay->new_order != NULL ? count_below(overlay, overlay->new_keys[place]) : place;
}

/* Return true if a vertex has lost an edge. */
static bool
is_loser(const EmogiOverlay *overlay, uint32_t vertex)
{
	const uint64_t low = EMOGI_PARTITION_POINT(0, overlay->nlosers, middle,
											   overlay->losers[middle] < vertex);

	return low < overlay->nlosers && overlay->losers[low] == vertex;
}

EmogiOverlayPresence
emogi_overlay_presence(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t vertex)
{
	EmogiListsView forward = emogi_lists_forward(graph, overlay);
	EmogiListsView backward = emogi_lists_backward(graph, overlay);

	if (overlay == NULL || emogi_lists_degree(&forward, vertex) > 0 || !is_loser(overlay, vertex))
		return EMOGI_VERTEX_THERE;
	if (graph->backward.offsets == NULL)
		return EMOGI_VERTEX_UNKNOWN;
	return emogi_lists_degree(&backward, vertex) > 0 ? EMOGI_VERTEX_THERE : EMOGI_VERTEX_GONE;
}

/* ---- lists ---- */

/* Return true if the old graph's weight type holds the weights of all added edges. */
static bool
weights_fit(const EmogiMergeSide *side, EmogiWeightType type)
{
	for (uint64_t i = 0; i < side->nentries; i++)
	{
		if (side->entries[i].times > 0 &&
			!emogi_weight_is_exact(type, emogi_merge_weight(&side->entries[i])))
			return false;
	}
	return true;
}

/* Add a piece to a list, unless it is empty. */
static void
add_piece(ListBuilder *builders, EmogiOverlayList *list, const uint32_t *targets,
		  const void *weights, uint64_t first, uint64_t count)
{
	EmogiListPiece *piece = &builders->changed_lists->pieces[builders->npieces];

	if (count == 0)
		return;
	piece->count = count;
	piece->targets = targets + first;
	piece->weights = NULL;
	if (builders->type != EMOGI_WEIGHT_NONE)
		piece->weights = (const char *) weights + first * emogi_weight_bytes(builders->type);
	builders->npieces++;
	list->npieces++;
	list->degree += count;
}

/* Add the edges of a change to a list. */
static void
add_entries(ListBuilder *builders, EmogiOverlayList *list, uint32_t target, double weight,
			uint64_t times)
{
	const uint64_t first = builders->nadded;

	for (uint64_t i = 0; i < times; i++)
	{
		builders->targets[builders->nadded] = target;
		emogi_weights_store(builders->weights, builders->type, builders->nadded++, &weight, 1);
	}
	add_piece(builders, list, builders->targets, builders->weights, first, times);
}

/* Build the list whose changes are [first, end) of one direction. */
static void
make_list(Layout *layout, int i, uint64_t first, uint64_t end)
{
	const EmogiGraph *graph = layout->merge.input->graph;
	const EmogiMergeSide *side = &layout->merge.sides[i];
	ListBuilder	   *builders = &layout->builders[i];
	const EmogiAdjacency *from = &side->from;
	const EmogiMergeEdit *edit = &side->edits[first];
	uint32_t	vertex = edit->source;
	uint64_t	place = edit->source_known ? from->offsets[vertex] : 0;
	const uint64_t list_end = edit->source_known ? from->offsets[vertex + 1] : 0;
	EmogiOverlayList *list;

	if (!edit->source_known)
		vertex = emogi_overlay_new_vertex(graph, &layout->overlay,
										  emogi_merge_key(side->entries[first].source));
	list = emogi_overlay_place(builders->changed_lists, vertex);
	*list = (EmogiOverlayList) {.vertex = vertex + 1, .first = builders->npieces};
	for (uint64_t j = first; j < end; j++)
	{
		const EmogiMergeEntry *entry = &side->entries[j];
		uint32_t	target = side->edits[j].target;

		if (edit->source_known)
		{
			add_piece(builders, list, from->targets, from->weights, place,
					  side->edits[j].place - place);
			place = side->edits[j].place;
		}
		if (entry->times < 0)
		{
			place += 0 - (uint64_t) entry->times;
			continue;
		}
		if (!side->edits[j].target_known)
			target = emogi_overlay_new_vertex(graph, &layout->overlay,
											  emogi_merge_key(entry->target));
		add_entries(builders, list, target,
					builders->type == EMOGI_WEIGHT_NONE ? 0.0 : emogi_merge_weight(entry),
					(uint64_t) entry->times);
	}
	add_piece(builders, list, from->targets, from->weights, place, list_end - place);
}

/* Build the changed lists of one direction. */
static void
make_lists(Layout *layout, int i)
{
	const EmogiMergeSide *side = &layout->merge.sides[i];
	EmogiOverlayLists *changed_lists = layout->builders[i].changed_lists;
	uint64_t	end;

	memset(changed_lists->lists, 0, sizeof(*changed_lists->lists) << changed_lists->bits);
	for (uint64_t first = 0; first < side->nentries; first = end)
	{
		for (end = first + 1; end < side->nentries &&
			 side->entries[end].source == side->entries[first].source;)
			end++;
		make_list(layout, i, first, end);
	}
	changed_lists->nadded = layout->builders[i].nadded;
	changed_lists->added = layout->builders[i].targets;
}

bool
emogi_overlay_make(const EmogiMergeInput *input, EmogiOverlay *overlay)
{
	const EmogiGraph *graph = input->graph;
	const bool	backward = graph->backward.offsets != NULL && input->direction != EMOGI_BOTH;
	EmogiControl control = {0};
	Layout		layout = {.overlay = {.new_order = NULL},
						  .merge = {.job = {.control = &control}, .input = input,
									   .nvertices = graph->nvertices, .ids = graph->ids,
									   .old_type = graph->weight_type, .type = graph->weight_type,
									   .nsides = backward ? 2 : 1}};

	lay_out(&layout, input, (uintptr_t) input->memory);
	emogi_merge_begin_side(&layout.merge, 0, &graph->forward, input->direction == EMOGI_IN,
						   true);
	emogi_merge_begin_side(&layout.merge, 1, &graph->backward, input->direction != EMOGI_IN,
						   backward);
	if (!emogi_merge_net(NULL, &layout.merge) || !emogi_merge_locate(NULL, &layout.merge))
		return false;
	list_new(&layout);
	list_losers(&layout);
	if (layout.overlay.nnew > EMOGI_MAX_VERTICES - graph->nvertices ||
		!weights_fit(&layout.merge.sides[0], graph->weight_type))
		return false;
	for (int i = 0; i < layout.merge.nsides; i++)
		make_lists(&layout, i);
	if (!backward)
		layout.overlay.backward = layout.overlay.forward;
	*overlay = layout.overlay;
	return true;
}
