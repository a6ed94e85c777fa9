/*
 * sink.h: inline functions by which pages.c and sink.c put edges into the arena, one by one or a
 * page at a time
 */
#ifndef EMOGI_SINK_H
#define EMOGI_SINK_H

#include <math.h>

#include "edges/edges.h"

typedef struct EmogiSink
{
	EmogiSlot  *slot;
	EmogiWeights weights;		/* the slot's */
	EmogiEdgeChunk *chunk;		/* NULL before the first edge */
	bool		both_ways;		/* the rows of the aggregate are directions of edges, with a cost
								 * of each: emogi_cost_has_edge */
	bool		isolated;		/* receives vertices, not edges; see emogi_sink_switch */
	EmogiEdgeChunk *other_chunk;	/* of the other kind */
	Size		max_bytes;		/* maximum part of a chunk that will be filled, and so is populated;
								 * EMOGI_CHUNK_BYTES if unknown */
	uint64		nedges;
	uint64		nskipped;		/* rows with a NULL end */

	/* keys that are not integers; see sink_keys.c */
	bool		has_keys;
	EmogiKeyCoder coder;
	EmogiKeyFiller filler;		/* of the slot's key table, in a build */
	EmogiDictionary *dictionary;	/* of the slot, in page rescans; otherwise NULL */
	int			nbatch;
	Size		batch_bytes;
	EmogiKeyBytes batch[EMOGI_KEYS_IN_FLIGHT];	/* [nbatch], source and target alternating */
	double		batch_weights[EMOGI_KEYS_IN_FLIGHT / 2];
	bool		batch_is_vertex[EMOGI_KEYS_IN_FLIGHT / 2];	/* a vertex, as both of its ends,
															 * instead of
														 * an edge */
	MemoryContext scrap;		/* for key bytes whose Datums are freed before the batch is put;
								 * NULL = they are not */
} EmogiSink;

extern void emogi_sink_open_own(EmogiSink *sink, EmogiSlot *slot);
extern void emogi_sink_open(EmogiSink *sink, uint64 token);
extern void emogi_sink_open_load(EmogiSink *sink, FunctionCallInfo fcinfo, bool keys, bool vertices,
								 bool weighted);
extern void emogi_sink_refuse_caller(void);
extern void emogi_sink_next_chunk(EmogiSink *sink);
extern void emogi_sink_switch(EmogiSink *sink, bool isolated);
extern void emogi_sink_put_vertex(EmogiSink *sink, int64 vertex);
extern EmogiSink *emogi_sink_state(FunctionCallInfo fcinfo);
extern void emogi_sink_refuse_weight(const EmogiSink *sink, const char *src, const char *dst,
									 double weight);
extern void emogi_sink_refuse_null_weight(const EmogiSink *sink, const char *src,
										  const char *dst);
extern void emogi_sink_refuse_null_direction(const char *src, const char *dst, const char *lacking,
											 const char *other, bool back);

/* sink_errors.c */
extern void emogi_sink_rethrow(MemoryContext context, const char *sql, const char *rows);

/* sink_keys.c */
extern void emogi_sink_open_keys(EmogiSink *sink);
extern void emogi_sink_put_keys(EmogiSink *sink, Datum src, Datum dst, double weight);
extern bool emogi_sink_is_null_row(EmogiSink *sink, Datum src, Datum dst);
extern void emogi_sink_flush(EmogiSink *sink);
extern void emogi_sink_refuse_null_of_keys(const EmogiSink *sink, Datum src, Datum dst);
extern char *emogi_sink_key_text(const EmogiSink *sink, Datum key);

/* Count more edges in a sink's chunk, whose ends are min_key .. max_key. */
static inline void
emogi_sink_count(EmogiSink *sink, uint64 nedges, int64 min_key, int64 max_key)
{
	EmogiEdgeChunk *chunk = sink->chunk;

	chunk->nedges += nedges;
	if (unlikely(min_key < chunk->min_key))
		chunk->min_key = min_key;
	if (unlikely(max_key > chunk->max_key))
		chunk->max_key = max_key;
	sink->nedges += nedges;
}

/*
 * Get where the next edges of a sink without weights may be written; return how many, at least one.
 * emogi_sink_count counts them afterwards.
 */
static inline uint64
emogi_sink_room(EmogiSink *sink, EmogiEdge **edges)
{
	if (unlikely(sink->chunk == NULL || sink->chunk->nedges == EMOGI_CHUNK_EDGES))
		emogi_sink_next_chunk(sink);
	*edges = &sink->chunk->edges[sink->chunk->nedges];
	return EMOGI_CHUNK_EDGES - sink->chunk->nedges;
}

/*
 * Ensure that the next `count` edges, at most those of a page, go into one chunk; return the
 * address of the first.
 */
static inline const void *
emogi_sink_reserve(EmogiSink *sink, uint64 count)
{
	bool		weighted = sink->weights != EMOGI_WEIGHTS_UNUSED;
	uint64		room = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;

	if (unlikely(sink->chunk == NULL || sink->chunk->nedges + count > room))
		emogi_sink_next_chunk(sink);
	return weighted ? (const void *) &emogi_weighted_edges(sink->chunk)[sink->chunk->nedges] :
		(const void *) &sink->chunk->edges[sink->chunk->nedges];
}

/* Append one edge to a sink without weights. */
static inline void
emogi_sink_put(EmogiSink *sink, int64 src, int64 dst)
{
	EmogiEdge  *edge;

	emogi_sink_room(sink, &edge);
	edge->src = src;
	edge->dst = dst;
	emogi_sink_count(sink, 1, Min(src, dst), Max(src, dst));
}

/*
 * Get the weights that a sink of edges accepts: those requested, if there are any. If rows have an
 * edge for each direction, weights determine which edges exist, so they are read in any case.
 */
static inline EmogiWeights
emogi_sink_weights(bool weighted, bool both_ways, EmogiWeights wanted)
{
	if (!weighted)
		return EMOGI_WEIGHTS_UNUSED;
	return both_ways && wanted == EMOGI_WEIGHTS_UNUSED ? EMOGI_WEIGHTS_LENGTHS : wanted;
}

/*
 * Does a cost of one direction of an edge mean that this direction exists? All readers of rows with
 * a cost for each direction ask this, after they have converted the cost to a double. NaN exists,
 * and is refused as a weight.
 */
static inline bool
emogi_cost_has_edge(double cost)
{
	return !(cost < 0);
}

/* Is a weight valid for a call that reads such weights? */
static inline bool
emogi_weight_fits(EmogiWeights weights, double weight)
{
	if (weights == EMOGI_WEIGHTS_LENGTHS)
		return weight >= 0;
	if (weights == EMOGI_WEIGHTS_ANY)
		return !isnan(weight);
	return isfinite(weight) && (weights == EMOGI_WEIGHTS_FACTORS || weight >= 0);
}

/* Append one edge to a sink with weights. Raises 22023 for an invalid weight. */
static inline void
emogi_sink_put_weighted(EmogiSink *sink, int64 src, int64 dst, double weight)
{
	EmogiWeightedEdge *edge;

	if (unlikely(!emogi_weight_fits(sink->weights, weight)))
		emogi_sink_refuse_weight(sink, psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst),
								 weight);
	if (unlikely(sink->chunk == NULL || sink->chunk->nedges == EMOGI_CHUNK_WEIGHTED_EDGES))
		emogi_sink_next_chunk(sink);
	edge = &emogi_weighted_edges(sink->chunk)[sink->chunk->nedges];
	edge->src = src;
	edge->dst = dst;
	edge->weight = weight;
	sink->chunk->weight_misfits |= emogi_weight_misfits(weight);
	emogi_sink_count(sink, 1, Min(src, dst), Max(src, dst));
}

#endif							/* EMOGI_SINK_H */
