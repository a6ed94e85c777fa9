/*
 * applications.h: the table of applications of the sum algebra that start from given values. A row is all that a new one needs
 * beside its formulas in algebra.h and its CREATE FUNCTION emogi_NAME(graph, start, max_iterations, tolerance, direction):
 * both engines, every mapping, the verifier, emogi_bench and the SQL side are made of the rows.
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

#define EMOGI_SUM_OWN 1u		/* a contribution looks at the value of the vertex that it goes to */
#define EMOGI_SUM_POLES 2u		/* start values stay; the other vertices, NaN at the start, begin with 0, and finish gets their weights */
#define EMOGI_SUM_KEEPS 4u		/* a vertex without an edge in keeps its value */

#define EMOGI_SUM_APPLICATIONS(X) \
	X(HEAT, heat, EMOGI_BOTH, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_OWN) \
	X(CIRCUIT, circuit, EMOGI_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_SUM_POLES) \
	X(NEURAL, neural, EMOGI_OUT, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_KEEPS)

#endif							/* EMOGI_APPLICATIONS_H */
