/*
 * applications.h: the tables of applications of the two algebras. A row is all that a new one needs beside its formulas in
 * algebra.h and its CREATE FUNCTION: both engines, every mapping, the verifier, emogi_bench and the SQL side are made of
 * the rows.
 *
 * The path algebra, emogi_NAME(graph, source, direction), or with EMOGI_PATH_ADDS (graph, source, max_distance, direction):
 *
 *   X(NAME, name, order, source, traits)
 *
 * NAME        EMOGI_NAME is the algorithm, and name prefixes its formula: name_candidate. Values are never below 0, nor -0.
 *             Weights are lengths: 0 or more, also above 1; the formula sees to it that values get no better by them
 * order       EMOGI_LEAST: the less a value, the better, +inf = not reached; EMOGI_MOST: the more, -1 = not reached
 * source      value of the path without an edge
 * traits      EMOGI_PATH_*, or 0; with EMOGI_PATH_ADDS the order is EMOGI_LEAST and the source finite
 *
 * The sum algebra, emogi_NAME(graph, start, max_iterations, tolerance, direction):
 *
 *   X(NAME, name, direction, weights, traits)
 *
 * NAME        EMOGI_NAME is the algorithm, and name prefixes its formulas: name_contribution, name_finish, name_stretch
 * direction   EmogiDirection (csr.h) when the call names none
 * weights     EmogiWeightsKind of the SQL side: which weights are accepted
 * traits      EMOGI_SUM_*, or 0
 */
#ifndef EMOGI_APPLICATIONS_H
#define EMOGI_APPLICATIONS_H

#define EMOGI_LEAST 0
#define EMOGI_MOST 1

#define EMOGI_PATH_ADDS 1u		/* values are sums of weights: they are bounded by max_distance and by targets, and searched at
								 * equal steps; others are weights or near them, and searched at quantiles of the weights */

#define EMOGI_PATH_APPLICATIONS(X) \
	X(SSSP, sssp, EMOGI_LEAST, 0.0, EMOGI_PATH_ADDS) \
	X(SSWP, sswp, EMOGI_MOST, (double) INFINITY, 0)

#define EMOGI_SUM_OWN 1u		/* a contribution looks at the value of the vertex that it goes to */
#define EMOGI_SUM_POLES 2u		/* start values stay; the other vertices, NaN at the start, begin with 0, and finish gets their weights */
#define EMOGI_SUM_KEEPS 4u		/* a vertex without an edge in keeps its value */

#define EMOGI_SUM_APPLICATIONS(X) \
	X(HEAT, heat, EMOGI_BOTH, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_OWN) \
	X(CIRCUIT, circuit, EMOGI_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_SUM_POLES) \
	X(NEURAL, neural, EMOGI_OUT, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_KEEPS)

#endif							/* EMOGI_APPLICATIONS_H */
