/*
 * simple_graph.cuh: the lists of a Graph as those of a simple graph, in device memory: no repeats, no loops.
 */
#ifndef EMOGI_SIMPLE_GRAPH_CUH
#define EMOGI_SIMPLE_GRAPH_CUH

#include "cuda/lists/edge_filter.cuh"

/* Make lists tell whose entries are. Takes memory of the run. */
extern EmogiStatus emogi_simple_graph_entries_open(Run *run, const Lists<Target> &lists, Entries *entries, EmogiError *error);

/* Free what opening them took. */
extern void emogi_simple_graph_entries_close(Run *run, Entries *entries);

/* Take room for a Selection of so many entries. */
extern EmogiStatus emogi_edge_filter_open(Run *run, uint64_t nedges, Selection *selection, EmogiError *error);

/* Free it. */
extern void emogi_edge_filter_close(Run *run, Selection *selection);

/* Wait, and get how many entries are wanted. */
extern EmogiStatus emogi_edge_filter_count(Run *run, const Selection *selection, uint64_t *count, EmogiError *error);

/* Find where the lists of wanted entries begin: (*offsets)[nvertices + 1], taken from the run's memory. */
extern EmogiStatus emogi_edge_filter_offsets(Run *run, const uint64_t *offsets, const Selection *selection, uint64_t **out,
										EmogiError *error);

/*
 * Make lists of the `count` wanted entries; ways[count], unless NULL: 2 for those that `both` selects, too, 1 for others. Takes the
 * arrays from the run's memory.
 */
extern EmogiStatus emogi_edge_filter_make(Run *run, const Entries *entries, const Selection *selection, uint64_t count,
									 const Selection *both, Csr *csr, uint8_t **ways, EmogiError *error);

/* Free lists that were made. */
extern void emogi_simple_graph_close(Run *run, Csr *csr);

/*
 * Place a Graph for algorithms that read it once or twice, to make lists of their own of it, of `bytes` at most: AUTO copies it to
 * device memory only if both fit there.
 */
extern EmogiStatus emogi_simple_graph_place(Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants, uint64_t bytes,
									  EmogiError *error);

/*
 * Make simple lists of placed ones, or take those if they are simple and in device memory. Adds what it read of them to the result.
 */
extern EmogiStatus emogi_simple_graph_make(Run *run, const Lists<Target> &lists, Csr *simple, EmogiResult *result, EmogiError *error);

/* Say whether the lists against the edges are others than those along them. */
extern bool emogi_simple_graph_is_directed(const EmogiGraph *graph);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_simple_graph_load(EmogiError *error);

#endif							/* EMOGI_SIMPLE_GRAPH_CUH */
