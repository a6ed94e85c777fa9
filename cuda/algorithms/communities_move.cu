/*
 * communities_move.cu: local moving of nodes to the communities of their neighbors, batch by batch,
 * as in engine/cpu/communities_move.c.
 *
 * Bytes a sweep over all nodes: as in communities_tally.cuh; again the entries of the nodes that
 * move, with a mark at random each.
 */
#include "cuda/algorithms/communities_tally.cuh"
#include "cuda/access/prefix_sum.cuh"

#define FEW_NODES 32			/* of a batch that one block moves */
#define FEW_LISTS 4				/* of these with lists longer than WARP_ENTRIES, at most */

/* Choose the best move of a node. */
struct MoveRule
{
	static constexpr bool COUNTS = false;
	static constexpr bool SUMS = false;

	struct Item
	{
		uint32_t	node;
		uint32_t	own;
		uint64_t	first;
		uint64_t	end;
		long long	strength;
		long long	own_weight;
		double		rate;
		EmogiBestCommunity	best;
	};

	Level		level;
	Arrays		arrays;
	EmogiGainParameters	gains;
	uint64_t	salt;
	uint64_t	sweep;
	bool		few;			/* only some of the nodes that want to move request it */
	bool		to_empty;

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		item->node = arrays.order[i];
		item->own = arrays.community[item->node];
		item->first = level.first[item->node];
		item->end = level.end[item->node];
		item->strength = level.strength[item->node];
		item->rate = emogi_communities_rate(&gains, item->strength);
		return true;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return item.end - item.first;
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		walk_list(level, item.first + from, item.first + upto, rank, stride, [&](uint32_t target) {
			return target == item.node ? EMOGI_NO_VERTEX : arrays.community[target];
		}, add);
	}

	template <class Find>
	__device__ __forceinline__ void begin(Item *item, Find find) const
	{
		item->own_weight = find(item->own);
		item->best = EmogiBestCommunity{emogi_communities_value(item->rate, item->own_weight,
																arrays.total[item->own] -
																item->strength) +
			emogi_communities_min_gain(&gains, item->strength), EMOGI_NO_VERTEX, 0};
	}

	__device__ __forceinline__ long long look_up(uint32_t community) const
	{
		return arrays.total[community];
	}

	__device__ __forceinline__ void visit(Item *item, uint32_t, bool there, uint32_t community,
										  long long weight, long long total) const
	{
		if (there && community != item->own)
			emogi_communities_offer(&item->best, salt,
									emogi_communities_value(item->rate, weight, total), community,
									weight);
	}

	__device__ __forceinline__ void merge(Item *item, uint32_t mask,
										  uint32_t lanes) const
	{
		merge_best(&item->best, salt, mask, lanes);
	}

	__device__ __forceinline__ void merge_with(Item *item, const Item &other) const
	{
		if (other.best.community != EMOGI_NO_VERTEX)
			emogi_communities_offer(&item->best, salt, other.best.value, other.best.community,
									other.best.weight);
	}

	/* Record a requested move. */
	__device__ __forceinline__ void request(const Item &item, uint64_t i, uint32_t to,
											long long difference) const
	{
		arrays.chosen[i] = to;
		arrays.difference[i] = difference;
		add_units(&arrays.out_of[item.own], item.strength);
		if (!to_empty)
			add_units(&arrays.into[to], item.strength);
	}

	__device__ __forceinline__ void finish(const Item &item, uint64_t i) const
	{
		const bool	out = 0.0 > item.best.value && arrays.size[item.own] > 1;

		arrays.chosen[i] = STAYS;
		arrays.open[item.node] = 0;
		if (to_empty)
		{
			if (out)
				request(item, i, arrays.empty[arrays.place[item.node]], -item.own_weight);
			else if (item.best.community != EMOGI_NO_VERTEX)
				arrays.open[item.node] = OPEN;
		}
		else if (out)
		{
			arrays.open[item.node] = WANTS_SINGLETON;
			arrays.sums->nleaving = 1;
		}
		else if (item.best.community == EMOGI_NO_VERTEX)
			return;
		else if (few && !emogi_communities_requests_move(salt, item.node, sweep, true))
		{
			arrays.open[item.node] = OPEN;
			arrays.sums->nwaiting = 1;
		}
		else
			request(item, i, item.best.community, item.best.weight - item.own_weight);
	}
};

/* A batch: indexes in the order, by class of list. */
typedef struct Batch
{
	uint64_t	starts[NCLASSES + 1];
} Batch;

/* Options of a batch of moves. */
typedef struct MoveOptions
{
	EmogiGainParameters	gains;
	uint64_t	salt;
	bool		sure;
	bool		to_empty;
} MoveOptions;

/*
 * Check which requested moves of a batch are accepted. Does nothing if the run was canceled,
 * because not all nodes have chosen. Called by all threads of the grid.
 */
static __device__ __forceinline__ void
check_moves(const Level &level, const Arrays &arrays, const MoveOptions &options,
			const Batch &batch, const Step &step)
{
	const bool	halted = is_halted(step);
	unsigned long long gained = 0;
	unsigned long long nmoved = 0;
	unsigned long long nopen = 0;

	for_each(batch.starts[NCLASSES] - batch.starts[0], [&](uint64_t k) {
		const uint64_t i = batch.starts[0] + k;
		const uint32_t to = arrays.chosen[i];
		const uint32_t node = arrays.order[i];
		const uint32_t from = arrays.community[node];
		EmogiCommunityMove request;
		double		gain;

		if (to == STAYS || halted)
			return;
		request = EmogiCommunityMove{from, to, options.to_empty, arrays.difference[i],
			level.strength[node], arrays.total[from], arrays.total[to], arrays.size[from],
			arrays.size[to], arrays.into[from], arrays.into[to], arrays.out_of[from],
			arrays.out_of[to]};
		gain = emogi_communities_guaranteed_gain(&options.gains, &request);
		if (gain > emogi_communities_min_gain(&options.gains, request.strength) &&
			emogi_communities_accepts_move(&request, options.sure, options.salt))
		{
			gained += (unsigned long long) emogi_communities_gain(&options.gains, gain);
			nmoved++;
		}
		else
		{
			arrays.difference[i] = REJECTED;
			arrays.open[node] = OPEN;
			nopen++;
		}
	});
	block_add((unsigned long long *) &arrays.sums->gained, gained);
	block_add(&arrays.sums->nmoved, nmoved);
	block_add(&arrays.sums->nopen, nopen);
}

/* Apply the accepted moves, unless the run was canceled. Called by all threads of the grid. */
static __device__ __forceinline__ void
make_moves(const Level &level, const Arrays &arrays, const Batch &batch, const Step &step)
{
	const bool	halted = is_halted(step);

	for_each(batch.starts[NCLASSES] - batch.starts[0], [&](uint64_t k) {
		const uint64_t i = batch.starts[0] + k;
		const uint32_t to = arrays.chosen[i];
		const uint32_t node = arrays.order[i];
		const uint32_t from = arrays.community[node];
		const long long strength = level.strength[node];

		if (to == STAYS || halted)
			return;
		arrays.out_of[from] = 0;
		arrays.into[to] = 0;
		if (arrays.difference[i] == REJECTED)
			return;
		add_units(&arrays.total[from], -strength);
		add_units(&arrays.total[to], strength);
		atomicSub(&arrays.size[from], 1);
		atomicAdd(&arrays.size[to], 1);
		arrays.community[node] = to;
	});
}

/* Mark as open the neighbors in entries from .. upto - 1, except those in the node's community. */
static __device__ __forceinline__ void
open_entries(const Level &level, const Arrays &arrays, uint32_t own, uint64_t from, uint64_t upto,
			 uint64_t rank, uint64_t stride)
{
	for (uint64_t e = from + rank; e < upto; e += stride)
	{
		const uint32_t target = __ldg(&level.targets[e]);

		if (arrays.open[target] == 0 && arrays.community[target] != own)
			arrays.open[target] = OPEN;
	}
}

/*
 * Mark as open the neighbors of the moved nodes among first .. end - 1 of the order, with every
 * ngroups-th group of `lanes` threads.
 */
static __device__ __forceinline__ void
open_lists(const Level &level, const Arrays &arrays, uint64_t first, uint64_t end, uint64_t group,
		   uint64_t ngroups, uint64_t rank, uint64_t lanes)
{
	for (uint64_t i = first + group; i < end; i += ngroups)
		if (arrays.chosen[i] != STAYS && arrays.difference[i] != REJECTED)
		{
			const uint32_t node = arrays.order[i];

			open_entries(level, arrays, arrays.community[node], level.first[node], level.end[node],
						 rank, lanes);
		}
}

/*
 * Mark as open the neighbors of the moved nodes of a batch: with the whole grid for a long list,
 * otherwise with a block, a warp or SHORT_LANES lanes a list. The warps count from the other end of
 * the grid, for balance.
 */
static __device__ __forceinline__ void
open_neighbors(const Level &level, const Arrays &arrays, const Batch &batch)
{
	const uint64_t thread = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t below = nthreads - 1 - thread;

	open_lists(level, arrays, batch.starts[3], batch.starts[4], 0, 1, thread, nthreads);
	open_lists(level, arrays, batch.starts[2], batch.starts[3], blockIdx.x, gridDim.x, threadIdx.x,
			   BLOCK_THREADS);
	open_lists(level, arrays, batch.starts[1], batch.starts[2], below / WARP_LANES,
			   nthreads / WARP_LANES, lane_number(), WARP_LANES);
	open_lists(level, arrays, batch.starts[0], batch.starts[1], thread / SHORT_LANES,
			   nthreads / SHORT_LANES, thread % SHORT_LANES, SHORT_LANES);
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
move_check_kernel(Level level, Arrays arrays, MoveOptions options, Batch batch, Step step)
{
	check_moves(level, arrays, options, batch, step);
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
move_go_kernel(Level level, Arrays arrays, Batch batch, Step step)
{
	make_moves(level, arrays, batch, step);
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
move_open_kernel(Level level, Arrays arrays, Batch batch)
{
	open_neighbors(level, arrays, batch);
}

/* All three steps of a small batch, in one block. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
move_few_kernel(Level level, Arrays arrays, MoveOptions options, Batch batch, Step step)
{
	check_moves(level, arrays, options, batch, step);
	__syncthreads();
	make_moves(level, arrays, batch, step);
	__syncthreads();
	open_neighbors(level, arrays, batch);
}

/* ---- a batch ---- */

/* Get the grid size of move_open_kernel. */
static int
open_blocks(const Search *search, const Batch &batch)
{
	const uint64_t *starts = batch.starts;
	const int	longs = starts[4] > starts[3] ? 2 * search->run->state->units : 1;
	const int	others[] = {blocks_of(search, starts[3] - starts[2], 1, 8),
		blocks_of(search, starts[2] - starts[1], BLOCK_WARPS, 8),
		blocks_of(search, starts[1] - starts[0], BLOCK_THREADS / SHORT_LANES, 8)};
	int			blocks = longs;

	for (int each : others)
		blocks = each > blocks ? each : blocks;
	return blocks;
}

/* Say whether one block finishes a batch faster than separate launches would. */
static bool
are_few(const Batch &batch)
{
	return batch.starts[4] - batch.starts[0] <= FEW_NODES &&
		batch.starts[4] - batch.starts[2] <= FEW_LISTS && batch.starts[4] == batch.starts[3];
}

/* Move the nodes of batch b of the order. */
static EmogiStatus
move_batch(Search *search, const Level *level, const MoveRule &rule, bool sure, uint32_t b,
		   uint64_t *first_long, EmogiError *error)
{
	const cudaStream_t stream = search->run->state->stream;
	const unsigned long long *starts = search->order.starts.at + (uint64_t) b * NCLASSES;
	const uint64_t count = starts[NCLASSES] - starts[0];
	const MoveOptions options = {search->gains, rule.salt, sure, rule.to_empty};
	Batch		batch;

	if (count == 0)
		return EMOGI_OK;
	if (search->run->control->cancel)
		return emogi_cuda_wait(search->run->state, search->run->control, error);
	for (uint32_t c = 0; c <= NCLASSES; c++)
		batch.starts[c] = starts[c];
	TRY(tally_batch(search, rule, level->is_wide, b, first_long, error));
	if (are_few(batch))
	{
		CUDA_LAUNCH(move_few_kernel, 1, BLOCK_THREADS, stream, *level, search->arrays, options,
					batch, search->run->step);
		return EMOGI_OK;
	}
	LAUNCH_EACH(move_check_kernel, search, count, *level, search->arrays, options, batch,
				search->run->step);
	LAUNCH_EACH(move_go_kernel, search, count, *level, search->arrays, batch, search->run->step);
	CUDA_LAUNCH(move_open_kernel, open_blocks(search, batch), BLOCK_THREADS, stream, *level,
				search->arrays, batch);
	return EMOGI_OK;
}

/* ---- moves to empty communities ---- */

/* Mark the nodes that leave now, and the empty communities. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
leave_mark_kernel(Arrays arrays, uint64_t nnodes, uint64_t salt, uint64_t sweep, bool few)
{
	for_each(nnodes + 1, [&](uint64_t i) {
		const bool	out = i < nnodes && arrays.open[i] == WANTS_SINGLETON;

		arrays.place[i] = out && emogi_communities_requests_move(salt, i, sweep, few);
		arrays.refined[i] = i < nnodes && arrays.size[i] == 0;
		if (out)
			arrays.open[i] = arrays.place[i] ? LEAVING : OPEN;
	});
}

/* Collect the empty communities, and limit the leaving nodes to their number. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
leave_write_kernel(Arrays arrays, uint64_t nnodes)
{
	const uint32_t nempty = arrays.refined[nnodes];

	for_each(nnodes, [&](uint64_t i) {
		if (arrays.size[i] == 0)
			arrays.empty[arrays.refined[i]] = (uint32_t) i;
		if (arrays.open[i] == LEAVING && arrays.place[i] >= nempty)
			arrays.open[i] = OPEN;
	});
}

/* Move nodes to empty communities. */
static EmogiStatus
leave(Search *search, const Level *level, MoveRule rule, bool sure, EmogiError *error)
{
	Run		   *run = search->run;
	uint64_t	first_long = 0;

	LAUNCH_EACH(leave_mark_kernel, search, level->nnodes + 1, search->arrays, level->nnodes,
				rule.salt, rule.sweep, rule.few);
	TRY(prefix_sum(run, search->arrays.place, level->nnodes + 1, search->arrays.narrow_tile,
				   error));
	TRY(prefix_sum(run, search->arrays.refined, level->nnodes + 1, search->arrays.narrow_tile,
				   error));
	LAUNCH_EACH(leave_write_kernel, search, level->nnodes, search->arrays, level->nnodes);
	TRY(emogi_communities_order(search, level, LEAVING, true, 0, 0, level->nnodes - search->nempty,
								error));
	rule.to_empty = true;
	search->edges_read += search->order.listed;
	search->edges_read_first += level->is_first ? search->order.listed : 0;
	return search->order.count == 0 ? EMOGI_OK :
		move_batch(search, level, rule, sure, 0, &first_long, error);
}

/* ---- local moving ---- */

/* Initialize: all communities empty, all nodes with lists open. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
move_begin_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		arrays.total[i] = arrays.into[i] = arrays.out_of[i] = 0;
		arrays.size[i] = 0;
		arrays.open[i] = level.end[i] > level.first[i] ? OPEN : 0;
	});
}

/* Add nodes to their communities. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
move_add_up_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		add_units(&arrays.total[arrays.community[i]], level.strength[i]);
		atomicAdd(&arrays.size[arrays.community[i]], 1);
	});
}

/* Count the empty communities. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
move_count_empty_kernel(Arrays arrays, uint64_t nnodes)
{
	unsigned long long count = 0;

	for_each(nnodes, [&](uint64_t i) {
		count += arrays.size[i] == 0;
	});
	block_add(&arrays.sums->count, count);
}

/* Mark all nodes with lists as open. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
move_open_all_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		arrays.open[i] = level.end[i] > level.first[i] ? OPEN : 0;
	});
}

/* Count the empty communities. */
static EmogiStatus
count_empty(Search *search, const Level *level, EmogiError *error)
{
	Sums		sums;

	LAUNCH_EACH(move_count_empty_kernel, search, level->nnodes, search->arrays, level->nnodes);
	TRY(emogi_communities_take_sums(search, &sums, error));
	search->nempty = sums.count;
	return EMOGI_OK;
}

/* Visit all open nodes. sums: totals of the sweep. */
static EmogiStatus
sweep_open(Search *search, const Level *level, uint64_t salt, uint64_t sweep, bool few, Sums *sums,
		   EmogiError *error)
{
	const MoveRule rule = {*level, search->arrays, search->gains, salt, sweep, few, false};
	const bool	sure = sweep >= EMOGI_COMMUNITIES_SURE_SWEEP;
	uint64_t	first_long = 0;

	TRY(emogi_communities_order(search, level, OPEN, false, salt, sweep,
								level->nnodes - search->nempty, error));
	search->edges_read += search->order.listed;
	search->edges_read_first += level->is_first ? search->order.listed : 0;
	for (uint32_t b = 0; b < search->order.nbatches; b++)
		TRY(move_batch(search, level, rule, sure, b, &first_long, error));
	TRY(emogi_communities_take_sums(search, sums, error));
	sums->nopen += sums->nwaiting;
	if (sums->nleaving > 0)
	{
		Sums		more;

		TRY(leave(search, level, rule, sure, error));
		LAUNCH_EACH(move_count_empty_kernel, search, level->nnodes, search->arrays, level->nnodes);
		TRY(emogi_communities_take_sums(search, &more, error));
		sums->gained += more.gained;
		sums->nmoved += more.nmoved;
		sums->nopen += more.nopen + 1;
		search->nempty = more.count;
		return EMOGI_OK;
	}
	return count_empty(search, level, error);
}

EmogiStatus
emogi_communities_move_all(Search *search, const Level *level, bool last, uint64_t salt,
						 uint64_t *ncommunities, EmogiError *error)
{
	const bool	is_small = level->nnodes + level->nentries < EMOGI_COMMUNITIES_SMALL_LEVEL;
	bool		settles = last;
	bool		visits_all = true;
	bool		few = false;
	uint64_t	nidle = 0;		/* consecutive sweeps without a move */

	search->gains.min_gain = 0.0;
	LAUNCH_EACH(move_begin_kernel, search, level->nnodes, *level, search->arrays);
	LAUNCH_EACH(move_add_up_kernel, search, level->nnodes, *level, search->arrays);
	TRY(count_empty(search, level, error));
	for (uint64_t sweep = 0;; sweep++)
	{
		double		enough;
		Sums		sums;

		few = few || emogi_communities_limits_requests(sweep, nidle);
		TRY(sweep_open(search, level, emogi_communities_random(salt, sweep), sweep, few, &sums,
					   error));
		nidle = sums.nmoved > 0 ? 0 : nidle + 1;
		search->gained += sums.gained;
		enough = search->min_gain * search->gains.scale;
		if (!settles && !is_small)
			enough = fmax(enough, search->gains.enough * (double) search->gained);
		if (sums.nopen + sums.nmoved > 0 && (double) sums.gained > enough)
		{
			search->gains.min_gain = 0.0;
			visits_all = false;
			continue;
		}
		settles = last || search->nempty == 0;
		if (!settles || (sums.nopen + sums.nmoved == 0 && visits_all) ||
			nidle >= EMOGI_COMMUNITIES_MAX_IDLE)
			break;
		search->gains.min_gain = search->min_gain;
		visits_all = true;
		LAUNCH_EACH(move_open_all_kernel, search, level->nnodes, *level, search->arrays);
	}
	*ncommunities = level->nnodes - search->nempty;
	return EMOGI_OK;
}

