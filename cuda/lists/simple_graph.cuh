/*
 * simple_graph.cuh: a graph's adjacency lists as those of a simple graph, in device memory: no
 * duplicate edges, no self-loops.
 */
#ifndef EMOGI_SIMPLE_GRAPH_CUH
#define EMOGI_SIMPLE_GRAPH_CUH

#include "cuda/lists/edge_filter.cuh"

/*
 * Build the structures that find the source vertex of each edge. Allocates from the run's memory.
 */
extern EmogiStatus emogi_simple_graph_entries_open(Run *run, const Lists<Target> &lists,
												   Entries *entries, EmogiError *error);

/* Free those structures. */
extern void emogi_simple_graph_entries_close(Run *run, Entries *entries);

/* Allocate a Selection of nedges edges. */
extern EmogiStatus emogi_edge_filter_open(Run *run, uint64_t nedges, Selection *selection,
										  EmogiError *error);

/* Free a Selection. */
extern void emogi_edge_filter_close(Run *run, Selection *selection);

/* Wait, and get the number of selected edges. */
extern EmogiStatus emogi_edge_filter_count(Run *run, const Selection *selection, uint64_t *count,
										   EmogiError *error);

/*
 * Compute the offsets of the lists of selected edges: (*out)[nvertices + 1], allocated from the
 * run's memory.
 */
extern EmogiStatus emogi_edge_filter_offsets(Run *run, const uint64_t *offsets,
											 const Selection *selection, uint64_t **out,
											 EmogiError *error);

/*
 * Build lists of the `count` selected edges; ways[count], unless NULL: 2 for edges that `both`
 * selects, too, 1 for the others. Allocates the arrays from the run's memory.
 */
extern EmogiStatus emogi_edge_filter_make(Run *run, const Entries *entries,
										  const Selection *selection, uint64_t count,
										  const Selection *both, Csr *csr, uint8_t **ways,
										  EmogiError *error);

/* Free lists that were built. */
extern void emogi_simple_graph_close(Run *run, Csr *csr);

/*
 * Place a graph for algorithms that read it once or twice, to build lists of their own of at most
 * `bytes`: AUTO copies it to device memory only if both fit there.
 */
extern EmogiStatus emogi_simple_graph_place(Run *run, const EmogiGraph *graph,
											const EmogiQuery *query, unsigned wants, uint64_t bytes,
											EmogiError *error);

/*
 * Build simple lists of placed ones, or use those if they are simple and in device memory. Adds the
 * cost of reading them to the result.
 */
extern EmogiStatus emogi_simple_graph_make(Run *run, const Lists<Target> &lists, Csr *simple,
										   EmogiResult *result, EmogiError *error);

/* Return whether the backward lists differ from the forward lists. */
extern bool emogi_simple_graph_is_directed(const EmogiGraph *graph);

#endif							/* EMOGI_SIMPLE_GRAPH_CUH */
