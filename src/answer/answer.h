/*
 * answer.h: who answers a call
 *
 * answerers.c    the answerers, a row each: whether one can answer a question, and at what cost
 * choose.c       the choice among them, and its reason; choices of the settings alone
 * pair_budget.c  how long pairs are searched one by one before all are answered by one run
 * cost.h         the constants behind the costs
 *
 * A question is what a call asks, under the caller's settings, and what is known of its graph. The
 * executor asks with the graph at hand, the planner and EXPLAIN with an estimate of it, and the
 * engine worker with the request. All get the same choice for the same facts.
 *
 * The cost of a search that may give up is the least that it takes: its true cost is known only as
 * it proceeds, and its limit, of cost.h, bounds what is lost (ski rental). So the chooser is asked
 * again, without those who gave up.
 */
#ifndef EMOGI_ANSWER_H
#define EMOGI_ANSWER_H

#include "base/settings.h"

/*
 * The answerers: ANSWERER(NAME, name, reads, run). reads: the graph that it needs, INDEXES = none,
 * OVERLAY = an older one with an overlay suffices, CURRENT. can_NAME and cost_NAME are in
 * answerers.c, run_RUN in function/task_run.c. Of two that cost the same, the later row is chosen.
 */
#define EMOGI_ANSWERERS(ANSWERER) \
	ANSWERER(INDEX, "index search", INDEXES, index) \
	ANSWERER(CPU, "cpu", CURRENT, engine) \
	ANSWERER(CUDA, "cuda", CURRENT, engine) \
	ANSWERER(PAPERS, "papers", CURRENT, engine) \
	ANSWERER(HIERARCHY, "contraction hierarchy", CURRENT, hierarchy) \
	ANSWERER(NEIGHBORHOOD, "neighborhood", OVERLAY, neighborhood) \
	ANSWERER(COMPONENTS, "kept components", OVERLAY, components) \
	ANSWERER(LOCAL, "local search", OVERLAY, local)

/* What an answerer reads. */
typedef enum EmogiAnswerReads
{
	EMOGI_READS_INDEXES,
	EMOGI_READS_OVERLAY,
	EMOGI_READS_CURRENT
} EmogiAnswerReads;

typedef enum EmogiAnswererId
{
#define ANSWERER(NAME, ...) EMOGI_ANSWERER_##NAME,
	EMOGI_ANSWERERS(ANSWERER)
#undef ANSWERER
	EMOGI_NANSWERERS,
	EMOGI_NO_ANSWERER = -1
} EmogiAnswererId;

/* How many vertices a question pairs. */
typedef enum EmogiQuestionKind
{
	EMOGI_QUESTION_SEARCH,		/* an algorithm */
	EMOGI_QUESTION_PATH,		/* one path */
	EMOGI_QUESTION_PATHS,		/* paths from one vertex to several */
	EMOGI_QUESTION_MATRIX		/* a row of a distance matrix */
} EmogiQuestionKind;

typedef struct EmogiQuestion
{
	/* what is asked */
	EmogiQuestionKind kind;
	EmogiAlgorithm algorithm;
	bool		is_bounded;		/* by depth, distance or targets */
	bool		may_use_indexes;	/* the answer, not only the edges of a small graph for it */
	bool		has_targets;	/* only rows of `ntargets` vertices are needed */
	bool		has_target_array;	/* a set of targets is an argument */
	bool		has_pairs;		/* a query of pairs is an argument */
	bool		has_components; /* only rows of certain components are needed */
	uint64		ngoals;
	uint64		nsources;
	uint64		ntargets;
	bool		is_shared;		/* parallel workers read the rows */
	bool		no_rows;
	bool		is_small;		/* emogi_query_is_small */

	/* the settings */
	EmogiEngineChoice engine;
	EmogiMapping mapping;
	int			nthreads;

	/* the graph */
	bool		has_graph;		/* the fields below are known or estimated */
	uint64		nvertices;
	uint64		nedges;
	double		nreached;		/* estimated; < 0 = unknown */
	double		graph_us;		/* cost of getting it, for those that read it */
	double		request_us;		/* cost of a request to the worker */
	bool		has_overlay;
	bool		has_mask;		/* of edges that may be used */
	bool		keeps_components;	/* it is cached with the components of an earlier run */
	bool		may_contract;	/* it is cached, and may have or get a hierarchy */
	bool		is_contracted;	/* it has one */

	/* the GPUs */
	int			ngpus;
	const char *why_no_gpu;		/* NULL = unknown */

	uint32		gave_up;		/* answerers that gave up, 1 << EmogiAnswererId */
} EmogiQuestion;

typedef struct EmogiAnswerer
{
	const char *name;
	EmogiAnswerReads reads;

	/*
	 * Can it answer the question? why: receives what makes it possible, or why a GPU cannot,
	 * [EMOGI_WHY_BYTES]; empty if there is nothing to tell; NULL = not wanted.
	 */
	bool		(*can) (const EmogiQuestion *question, char *why);
	double		(*cost_us) (const EmogiQuestion *question);
} EmogiAnswerer;

/* Length of a reason. */
#define EMOGI_WHY_BYTES 256

/* ---- answerers.c; plain C, also for computing threads ---- */

extern const EmogiAnswerer *emogi_answer_row(EmogiAnswererId id);
extern uint64 emogi_answer_pair_edges(uint64 nedges);
extern uint64 emogi_answer_max_edges(const EmogiQuestion *question);
extern uint64 emogi_answer_neighborhood_edges(const EmogiQuestion *question);
extern int	emogi_answer_sweeping_threads(const EmogiQuestion *question);
extern bool emogi_answer_sweeps(const EmogiQuestion *question);

/* Cost of a search for one path: a limit, or what it has used. */
typedef struct EmogiPathCost
{
	uint64		nedges;			/* edges scanned */
	uint64		nvertices;		/* vertices settled */
} EmogiPathCost;

/* ---- choose.c; emogi_answer_can, _cost_us and _choose likewise ---- */

extern void emogi_answer_ask(EmogiAlgorithm algorithm, EmogiQuestion *question);
extern bool emogi_answer_can(EmogiAnswererId id, const EmogiQuestion *question);
extern double emogi_answer_cost_us(EmogiAnswererId id, const EmogiQuestion *question);
extern bool emogi_answer_accepts_overlay(const EmogiQuestion *question);
extern EmogiAnswererId emogi_answer_choose(const EmogiQuestion *question, char *why);
extern bool emogi_answer_requires_gpu(void);
extern bool emogi_answer_may_use_gpu(void);
extern bool emogi_answer_is_local_enabled(void);
extern bool emogi_answer_is_index_enabled(void);
extern bool emogi_answer_runs_in_backend(uint64 nedges);
extern int	emogi_answer_batch_sources(uint64 nvertices, int64 max_depth, int nsources,
									   uint64 max_bytes);
extern bool emogi_answer_can_batch_sums(void);
extern EmogiPathCost emogi_answer_path_limit(uint64 nedges);
extern bool emogi_answer_tries_path(uint64 nvertices, uint64 nedges, uint64 tried);
extern char *emogi_answer_explain(const EmogiQuestion *question);

/* ---- pair_budget.c ---- */

/* The budget of searches for vertex pairs, and of a group of pairs with a common end */
typedef struct EmogiPairBudget
{
	uint64		nvertices;		/* of the graph */
	uint64		nedges;
	bool		is_by_hops;
	uint64		npairs;			/* pairs of the run, those already found included */
	uint64		ndone;
	EmogiPathCost left;			/* remaining budget of the run */
	EmogiPathCost spent;
	EmogiPathCost withheld;		/* of the budget when the run began; each pair releases its part */
	int			discount;		/* the next budget is divided by 2^discount */
	uint64		same_source;	/* remaining pairs of the group if they share the source,
								 * otherwise 1 */
	uint64		same_target;
	uint64		group_count;	/* pairs of the group; 0 = searched one by one */
	uint64		group_done;
	EmogiPathCost group_budget;	/* budget of the run when the group began */
	EmogiPathCost group_left;	/* remaining budget of the group */
} EmogiPairBudget;

extern uint64 emogi_pair_budget_batches(uint64 nsources);
extern EmogiPathCost emogi_pair_budget_next(const EmogiPairBudget *budget);
extern void emogi_pair_budget_begin(EmogiPairBudget *budget, uint64 nvertices, uint64 nedges,
									bool is_by_hops);
extern void emogi_pair_budget_run(EmogiPairBudget *budget, uint64 npairs, uint64 nsearches);
extern void emogi_pair_budget_group(EmogiPairBudget *budget, uint64 same_source,
									uint64 same_target);
extern bool emogi_pair_budget_is_hopeless(const EmogiPairBudget *budget);
extern void emogi_pair_budget_charge(EmogiPairBudget *budget, EmogiPathCost cost);
extern void emogi_pair_budget_charge_group(EmogiPairBudget *budget, EmogiPathCost cost);
extern void emogi_pair_budget_end_run(EmogiPairBudget *budget, bool ran_batch);

/* Does an answerer run on a GPU? */
static inline bool
emogi_answer_is_on_gpu(EmogiAnswererId id)
{
	return id == EMOGI_ANSWERER_CUDA || id == EMOGI_ANSWERER_PAPERS;
}

/* The answerers in the backend, which the engine worker cannot choose. */
#define EMOGI_ANSWERERS_IN_BACKEND \
	(1u << EMOGI_ANSWERER_INDEX | 1u << EMOGI_ANSWERER_LOCAL | \
	 1u << EMOGI_ANSWERER_NEIGHBORHOOD | 1u << EMOGI_ANSWERER_COMPONENTS | \
	 1u << EMOGI_ANSWERER_HIERARCHY)

#endif							/* EMOGI_ANSWER_H */
