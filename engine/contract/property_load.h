/*
 * property_load.h: loading of property columns for the lists of an existing graph
 *
 * The rows of a graph's edges are read again and numbered. Lists built from them, with the numbers
 * as weights, are compared with those of the graph, entry by entry, and lead to the values.
 */
#ifndef EMOGI_PROPERTY_LOAD_H
#define EMOGI_PROPERTY_LOAD_H

#include "contract/properties.h"

typedef struct EmogiPropertyLoad
{
	EmogiGraph	numbers;		/* of emogi_csr_build, like the graph, whose weights are numbers of
								 * rows; those of parallel edges are reordered */
	const double *weights;		/* [rows], weights of the edges; NULL = the graph has none */
	uint32_t	ncolumns;
	const EmogiPropertyRows *rows;	/* [ncolumns] */
	/*
	 * [ncolumns], with types that hold all values exactly. values: memory of
	 * emogi_properties_bytes, to be filled; nulls is set
	 */
	EmogiProperty *forward;
	EmogiProperty *backward;	/* of the reverse lists; NULL = there are none, or they are the
								 * forward lists */
	/* memory for the forward entries that lead to each vertex, to be filled; NULL = not wanted */
	uint64_t   *in_offsets;		/* [nvertices + 2], of which the last is scratch */
	uint32_t   *in_entries;		/* [nedges], fewer than 2^32 */
} EmogiPropertyLoad;

/*
 * Fill columns for the lists of a graph. BAD_INPUT if the graph does not have exactly the edges of
 * the rows.
 */
extern EmogiStatus emogi_property_load(EmogiPool *pool, const EmogiGraph *graph,
									   EmogiPropertyLoad *load, EmogiControl *control,
									   EmogiError *error);

#endif							/* EMOGI_PROPERTY_LOAD_H */
