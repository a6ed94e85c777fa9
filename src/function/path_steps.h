/*
 * path_steps.h: the steps of many paths, with the names of their edges.
 */
#ifndef EMOGI_PATH_STEPS_H
#define EMOGI_PATH_STEPS_H

#include "function/function.h"

/* A step of a path. */
typedef struct EmogiStep
{
	uint32		vertex;
	uint32		edge;			/* index of the edge to the next step, once found; EMOGI_NO_EDGE
								 * = none */
	double		distance;		/* from the start of the path */
} EmogiStep;

#define EMOGI_NO_EDGE UINT32_C(0xFFFFFFFF)

/* A distinct edge used by one or more steps. */
typedef struct EmogiStepEdge
{
	uint32		from;			/* vertex */
	uint32		to;
	double		cost;
	NullableDatum name;
} EmogiStepEdge;

/*
 * A growing set of paths. Arrays are in the context that was current when the first path was added.
 */
typedef struct EmogiPathSteps
{
	const EmogiTask *task;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;	/* changes since the graph was built; NULL = none */
	EmogiStep  *steps;			/* [nsteps] */
	uint64		nsteps;
	uint64		room;
	uint64	   *ends;			/* [npaths], index in steps[] after each path's last step */
	uint64		npaths;
	uint64		ends_room;
	EmogiStepEdge *edges;		/* [nedges], distinct edges of all steps */
	uint64		nedges;
} EmogiPathSteps;

/* Columns of a step: seq, vertex, edge, cost, distance. */
#define EMOGI_STEP_COLUMNS 5

extern MemoryContext emogi_path_steps_enter(void);
extern void emogi_path_steps_leave(MemoryContext old);
extern void emogi_path_steps_add(EmogiPathSteps *paths, const uint32 *path, uint64 length,
								 const double *distance, bool by_number);
extern void emogi_path_steps_name(EmogiPathSteps *paths);
extern void emogi_path_steps_fill(const EmogiPathSteps *paths, uint64 path, uint64 i, Datum *values,
								  bool *nulls);
extern void emogi_path_steps_finish(FunctionCallInfo fcinfo, EmogiCall *call, EmogiPathSteps *paths,
									MemoryContext old);

/* Return the index of a path's first step. */
static inline uint64
emogi_path_steps_begin(const EmogiPathSteps *paths, uint64 path)
{
	return path == 0 ? 0 : paths->ends[path - 1];
}

/* Return the number of steps of a path. */
static inline uint64
emogi_path_steps_length(const EmogiPathSteps *paths, uint64 path)
{
	return paths->ends[path] - emogi_path_steps_begin(paths, path);
}

#endif							/* EMOGI_PATH_STEPS_H */
