/*
 * function_names.c: hint for a call of a function of the extension that does not exist, or not with
 * these arguments
 *
 * The list is not read from the catalog, because the hint is made while an error is reported.
 * tools/functions writes it from sql/functions.dat; test/t/001_preload.pl compares it with the catalog.
 */
#include "postgres.h"

#include "utils/varlena.h"

#include "source/source.h"

/* Maximum length of a name in the list, and of another word for it. */
#define MAX_NAME_BYTES 63

/* The functions, without the prefix emogi_, and words in other products for the same. */
static const struct
{
	const char *name;
	const char *words;			/* separated by single blanks */
	bool		has_forms;		/* also with the suffix _text or _uuid */
}			functions[] = {
	/* functions:begin names */
	{"all_shortest_paths", "allshortestpaths", false},
	{"articulation_points", "cut_vertices cutpoints articulationpoints", true},
	{"betweenness", "betweenness_centrality", true},
	{"bfs", "breadth_first_search breadthfirstsearch dfs descendants ego_graph k_hop "
		"khop neighbors neighborhood traverse", false},
	{"bfs_tree", "predecessors", false},
	{"biconnected", "blocks biconnected_components biconnectedcomponents", true},
	{"bridges", "cut_edges", true},
	{"cache", "cache_stats", false},
	{"cc", "component components connected_components connectedcomponents union_find "
		"wcc weakly_connected_components", true},
	{"cdlp", "label_propagation labelpropagation lpa", true},
	{"check", "verify", false},
	{"circuit", "potentials voltages", true},
	{"closeness", "closeness_centrality harmonic", true},
	{"core", "core_number coreness k_core kcore", true},
	{"cycles", "cycle has_cycle rings simple_cycles", false},
	{"degree", "degrees in_degree out_degree strength", true},
	{"devices", "gpus", false},
	{"distance_matrix", "cost_matrix dijkstracostmatrix distances many_to_many", false},
	{"eigenvector", "eigenvector_centrality", true},
	{"estimate", "size", false},
	{"evict", "drop drop_graph invalidate", false},
	{"graphs", "list list_graphs", false},
	{"heat", "diffusion", true},
	{"hits", "authorities hubs", true},
	{"k_shortest_paths", "ksp shortest_simple_paths yen", false},
	{"katz", "katz_centrality", true},
	{"lcc", "clustering clustering_coefficient local_clustering", true},
	{"leiden", NULL, true},
	{"longest_path", "critical_path", true},
	{"louvain", "communities community", true},
	{"max_flow", "maxflow maximum_flow maximum_flow_value flow", false},
	{"max_flow_edges", "push_relabel pushrelabel edmonds_karp edmondskarp "
		"boykov_kolmogorov boykovkolmogorov dinic preflow_push", false},
	{"min_cut", "minimum_cut mincut st_cut", false},
	{"modularity", NULL, false},
	{"neural", "hopfield", true},
	{"pagerank", "page_rank ppr rank", true},
	{"pages", NULL, false},
	{"prewarm", "build build_graph load preload warm", false},
	{"progress", NULL, false},
	{"query", "format", false},
	{"random_walk", "node2vec random_walks", false},
	{"reachable", "has_path reachability", true},
	{"reset", "restart", false},
	{"runs", "history log", false},
	{"scc", "strong_components strongcomponents strongly_connected_components", true},
	{"shortest_path", "a_star astar bd_dijkstra bddijkstra dijkstra path", false},
	{"shortest_path_tree", "driving_distance drivingdistance isochrone service_area", false},
	{"shortest_paths", "paths", true},
	{"similarity", "common_neighbors cosine jaccard node_similarity overlap", true},
	{"spanning_forest", "kruskal minimum_spanning_tree mst prim spanning_tree", true},
	{"ssnsp", "count_paths path_count", false},
	{"sssp", "bellman_ford delta_stepping single_source_shortest_path", false},
	{"sswp", "bottleneck widest_path", false},
	{"stamp", NULL, false},
	{"stat_graphs", "stat stats statistics", false},
	{"stat_info", NULL, false},
	{"stat_reset", "reset_stats", false},
	{"topological_order", "topological_sort topologicalsort toposort", true},
	{"triangle_count", "count_triangles", false},
	{"triangles", NULL, true},
	{"version", NULL, false},
	{"with_vertices", "vertices", false}
	/* functions:end */
};

/* Is a name that of a function, or of its form for other keys? */
static bool
is_function(int i, const char *name)
{
	const size_t length = strlen(functions[i].name);

	return strncmp(functions[i].name, name, length) == 0 &&
		(name[length] == '\0' ||
		 (functions[i].has_forms &&
		  (strcmp(name + length, "_text") == 0 || strcmp(name + length, "_uuid") == 0)));
}

/* Is a name one of the words for a function? */
static bool
is_word(int i, const char *name)
{
	const size_t length = strlen(name);
	const char *word = functions[i].words;

	while (word != NULL)
	{
		if (strncmp(word, name, length) == 0 && (word[length] == ' ' || word[length] == '\0'))
			return true;
		word = strchr(word, ' ');
		word = word != NULL ? word + 1 : NULL;
	}
	return false;
}

/* Get the function that a name without the prefix likely stands for; NULL if none is similar. */
static const char *
find_likely(const char *name)
{
	const int	length = (int) strlen(name);
	int			best = (length + 1) / 3 + 1;
	const char *found = NULL;

	for (int i = 0; i < (int) lengthof(functions); i++)
	{
		int			distance;

		if (is_word(i, name))
			return functions[i].name;
		distance = varstr_levenshtein_less_equal(name, length, functions[i].name,
												 (int) strlen(functions[i].name), 1, 1, 1,
												 best - 1, true);
		if (distance < best)
		{
			best = distance;
			found = functions[i].name;
		}
	}
	return found;
}

/*
 * Get the hint for a function that PostgreSQL does not find. name: with the prefix emogi_, and what
 * follows it in the message.
 */
char *
emogi_function_names_hint(const char *message, int length)
{
	const char *name = pnstrdup(message, Min(length, MAX_NAME_BYTES));
	const char *bare = name + strlen("emogi_");
	const char *likely;

	for (int i = 0; i < (int) lengthof(functions); i++)
		if (is_function(i, bare))
			return psprintf("\\df %s lists the arguments, \\df emogi_* the functions. Arguments "
							"after the graph and the vertices are best passed by name.", name);
	likely = find_likely(bare);
	return psprintf("There is no function %s.%s%s%s \\df emogi_* lists the functions, and "
					"docs/functions.md describes them.", name,
					likely != NULL ? " Perhaps you meant emogi_" : "",
					likely != NULL ? likely : "", likely != NULL ? "." : "");
}
