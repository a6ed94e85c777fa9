/*
 * function_names.c: hint for a call of a function of the extension that does not exist, or not with
 * these arguments (argument_hints.c)
 *
 * The list is not read from the catalog, because the hint is made while an error is reported.
 * tools/functions writes it from sql/functions.dat; test/t/001_preload.pl compares it with the
 * catalog.
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
	const char *parameters;		/* without columns, separated by single blanks */
}			functions[] = {
	/* functions:begin names */
	{"all_shortest_paths", "allshortestpaths", false,
		"graph source target max_paths direction edge_filter params"},
	{"articulation_points", "cut_vertices cutpoints articulationpoints", true,
		"graph edge_filter params"},
	{"betweenness", "betweenness_centrality", true,
		"graph samples seed normalized direction edge_filter params"},
	{"bfs", "breadth_first_search breadthfirstsearch dfs descendants ego_graph k_hop "
		"khop neighbors neighborhood traverse", false,
		"graph source max_depth direction edge_filter params"},
	{"bfs_tree", "predecessors", false,
		"graph source max_depth direction edge_filter params"},
	{"biconnected", "blocks biconnected_components biconnectedcomponents", true,
		"graph edge_filter params"},
	{"bridges", "cut_edges", true,
		"graph edge_filter params"},
	{"cache", "cache_stats", false, NULL},
	{"cc", "component components connected_components connectedcomponents union_find "
		"wcc weakly_connected_components", true,
		"graph edge_filter params"},
	{"cdlp", "label_propagation labelpropagation lpa", true,
		"graph max_iterations direction edge_filter params"},
	{"check", "verify", false,
		"graph direction weights backward with_overlay edge_filter params"},
	{"circuit", "potentials voltages", true,
		"graph start max_iterations tolerance direction edge_filter params"},
	{"closeness", "closeness_centrality harmonic", true,
		"graph samples seed direction edge_filter params"},
	{"core", "core_number coreness k_core kcore", true,
		"graph edge_filter params"},
	{"cycles", "cycle has_cycle rings simple_cycles", false,
		"graph source max_length max_cycles direction edge_filter params"},
	{"degree", "degrees in_degree out_degree strength", true,
		"graph direction edge_filter params"},
	{"devices", "gpus", false, NULL},
	{"distance_matrix", "cost_matrix dijkstracostmatrix distances many_to_many", false,
		"graph sources targets direction edge_filter params"},
	{"eigenvector", "eigenvector_centrality", true,
		"graph max_iterations tolerance weights direction edge_filter params"},
	{"estimate", "size", false,
		"graph weights direction edge_filter params"},
	{"evict", "drop drop_graph invalidate", false,
		"graph"},
	{"graphs", "list list_graphs", false, NULL},
	{"heat", "diffusion", true,
		"graph start max_iterations tolerance direction edge_filter params"},
	{"hits", "authorities hubs", true,
		"graph max_iterations tolerance weights direction edge_filter params"},
	{"k_shortest_paths", "ksp shortest_simple_paths yen", false,
		"graph source target k direction edge_filter params"},
	{"katz", "katz_centrality", true,
		"graph alpha beta max_iterations tolerance normalized weights direction "
		"edge_filter params"},
	{"lcc", "clustering clustering_coefficient local_clustering", true,
		"graph direction edge_filter params"},
	{"leiden", NULL, true,
		"graph resolution theta max_cluster_size max_levels seed edge_filter params"},
	{"longest_path", "critical_path", true,
		"graph edge_filter params"},
	{"louvain", "communities community", true,
		"graph resolution max_levels tolerance seed edge_filter params"},
	{"max_flow", "maxflow maximum_flow maximum_flow_value flow", false,
		"graph source target direction edge_filter params"},
	{"max_flow_edges", "push_relabel pushrelabel edmonds_karp edmondskarp "
		"boykov_kolmogorov boykovkolmogorov dinic preflow_push", false,
		"graph source target direction edge_filter params"},
	{"min_cut", "minimum_cut mincut st_cut", false,
		"graph source target direction edge_filter params"},
	{"modularity", NULL, false,
		"graph communities resolution edge_filter params"},
	{"neural", "hopfield", true,
		"graph start max_iterations tolerance direction edge_filter params"},
	{"pagerank", "page_rank ppr rank", true,
		"graph damping max_iterations tolerance start direction weights edge_filter "
		"params"},
	{"pages", NULL, false,
		"relation columns first_page npages"},
	{"prewarm", "build build_graph load preload warm", false,
		"graph direction weights backward keep edge_filter params"},
	{"progress", NULL, false, NULL},
	{"query", "format", false,
		"query params"},
	{"random_walk", "node2vec random_walks", false,
		"graph source length walks p q seed direction weights edge_filter params"},
	{"reachable", "has_path reachability", true,
		"graph pairs direction edge_filter params"},
	{"reset", "restart", false, NULL},
	{"rollup", "bill_of_materials bom bom_explosion explode explosion roll_up "
		"where_used whereused", false,
		"graph source max_depth direction edge_filter params"},
	{"runs", "history log", false, NULL},
	{"scc", "strong_components strongcomponents strongly_connected_components", true,
		"graph edge_filter params"},
	{"shortest_path", "a_star astar bd_dijkstra bddijkstra dijkstra path", false,
		"graph source target direction edge_filter params"},
	{"shortest_path_tree", "driving_distance drivingdistance isochrone service_area", false,
		"graph source max_distance direction edge_filter params"},
	{"shortest_paths", "paths", true,
		"graph sources targets direction pairs edge_filter params"},
	{"similarity", "common_neighbors cosine jaccard node_similarity overlap", true,
		"graph measure top_k cutoff pairs direction edge_filter params"},
	{"simple_paths", "all_paths all_simple_paths allpaths allsimplepaths simplepaths", false,
		"graph source target max_depth max_cost max_paths direction edge_filter params"},
	{"spanning_forest", "kruskal minimum_spanning_tree mst prim spanning_tree", true,
		"graph maximum edge_filter params"},
	{"ssnsp", "count_paths path_count", false,
		"graph source max_depth direction edge_filter params"},
	{"sssp", "bellman_ford delta_stepping single_source_shortest_path", false,
		"graph source max_distance direction edge_filter params"},
	{"sswp", "bottleneck widest_path", false,
		"graph source direction edge_filter params"},
	{"stamp", NULL, false,
		"relation columns"},
	{"stat_graphs", "stat stats statistics", false, NULL},
	{"stat_info", NULL, false, NULL},
	{"stat_reset", "reset_stats", false, NULL},
	{"topological_order", "topological_sort topologicalsort toposort", true,
		"graph edge_filter params"},
	{"triangle_count", "count_triangles", false,
		"graph edge_filter params"},
	{"triangles", NULL, true,
		"graph edge_filter params"},
	{"version", NULL, false, NULL},
	{"with_vertices", "vertices", false,
		"graph vertices"}
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
	char	   *hint;

	for (int i = 0; i < (int) lengthof(functions); i++)
	{
		if (!is_function(i, bare))
			continue;
		hint = functions[i].parameters == NULL ? NULL :
			emogi_argument_hints_explain(name, functions[i].parameters, message);
		return hint != NULL ? hint :
			psprintf("\\df %s lists the arguments, \\df emogi_* the functions. Arguments "
					 "after the graph and the vertices are best passed by name.", name);
	}
	likely = find_likely(bare);
	return psprintf("There is no function %s.%s%s%s \\df emogi_* lists the functions, and "
					"docs/functions.md describes them.", name,
					likely != NULL ? " Perhaps you meant emogi_" : "",
					likely != NULL ? likely : "", likely != NULL ? "." : "");
}
