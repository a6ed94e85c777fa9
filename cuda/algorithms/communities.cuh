/*
 * communities.cuh: shared declarations of community detection: levels, arrays and orders of nodes.
 *
 * The rules are those of contract/community_rules.h and the steps those of
 * engine/cpu/communities.h, so both engines return the same bits. communities.cu is the driver.
 * communities_begin.cu makes the first level, communities_order.cu orders nodes and numbers
 * communities, communities_move.cu moves nodes, communities_refine.cu splits communities,
 * communities_aggregate.cu makes the next level. communities_tally.cuh sums weights by community.
 *
 * Device memory, for n vertices and m entries: about 190n bytes; 12 an entry of each of two levels
 * after the first, at most m each; 8m with floating-point weights; and the hash tables of long
 * lists, 24 to 48 an entry of the longest.
 */
#ifndef EMOGI_COMMUNITIES_CUH
#define EMOGI_COMMUNITIES_CUH

#include <stdlib.h>

#include "cuda/core/run.cuh"
#include "contract/community_rules.h"

/* Classes of nodes by the length of their lists, and the threads that process one. */
#define SHORT_ENTRIES 64		/* SHORT_LANES lanes */
#define SHORT_LANES 8
#define WARP_ENTRIES 256		/* a warp */
#define BLOCK_ENTRIES 2048		/* a block; longer lists are cut into pieces of this length */
#define NCLASSES 4
#define SLAB_SLOTS 8192			/* slots of a table that a block processes at once */
#define FOUND_BYTES 96

#define OPEN 1					/* marks of nodes: to be visited */
#define WANTS_SINGLETON 2		/* prefers to be alone, and has not moved yet */
#define LEAVING 3				/* moves to an empty community now */
#define STAYS EMOGI_NO_VERTEX	/* a choice: no move */
#define REJECTED INT64_MIN		/* a difference: the chosen move is rejected */

/*
 * The graph of one level, as in engine/cpu/communities.h. Arrays in device memory, except targets
 * and weights of the first level, which are where they were placed.
 */
typedef struct Level
{
	uint64_t	nnodes;
	uint64_t	nentries;
	const uint64_t *first;		/* [nnodes] */
	const uint64_t *end;		/* [nnodes] */
	const uint32_t *targets;	/* [nentries] */
	const void *weights;		/* [nentries], of type `units` */
	EmogiWeightUnits units;
	bool		is_wide;		/* the sum of a node's weights may exceed 32 bits */
	bool		is_first;
	const long long *strength;	/* [nnodes] */
	const uint32_t *name;		/* [nnodes] */
} Level;

/* Memory for a level. */
typedef struct Room
{
	uint64_t   *first;			/* [nvertices] */
	uint64_t   *end;			/* [nvertices] */
	long long  *strength;		/* [nvertices] */
	uint32_t   *name;			/* [nvertices] */
	uint32_t   *targets;		/* allocated for each level; NULL = not allocated */
	long long  *weights;		/* likewise */
} Room;

/* Sums over kernels, zeroed by the host. */
typedef struct Sums
{
	unsigned long long count;	/* number of nodes; which ones depends on the kernel */
	unsigned long long listed;	/* entries of their lists */
	long long	gained;
	unsigned long long nmoved;
	unsigned long long nopen;
	unsigned long long nwaiting;	/* 1 = a node wants to move, and has not requested it */
	unsigned long long nleaving;
	unsigned long long max;		/* a maximum; of what depends on the kernel */
	long long	whole;
	unsigned long long changed;
} Sums;

/* Arrays in device memory, [nvertices] each, as in engine/cpu/communities.h. */
typedef struct Arrays
{
	uint32_t   *community;
	uint32_t   *refined;
	uint32_t   *number;
	uint32_t   *size;
	uint32_t   *order;
	uint32_t   *chosen;			/* [i]: the community that order[i] wants to move to, or STAYS */
	uint32_t   *inner_size;
	uint32_t   *place;			/* [nvertices + 1], scratch */
	uint32_t   *empty;			/* scratch: empty communities */
	uint32_t   *joins;			/* result columns, with `heads` */
	int32_t    *heads;
	long long  *total;
	long long  *into;
	long long  *out_of;
	long long  *difference;		/* [i]: weight to chosen[i] minus weight to the own community;
								 * REJECTED */
	long long  *inner_total;
	long long  *inner_cut;
	long long  *node_cut;
	uint64_t   *starts;			/* [nvertices + 2], first member of each group */
	uint64_t   *before;			/* [nvertices + 2], entries before each node of an order */
	uint64_t   *tile;			/* scratch of prefix sums */
	uint32_t   *narrow_tile;	/* the same with 32 bits */
	uint16_t   *batch;
	uint8_t    *open;
	unsigned long long *counts;	/* [NCLASSES * EMOGI_COMMUNITIES_MAX_BATCHES + 1], by batch and
								 * class */
	Sums	   *sums;
} Arrays;

/* A list that is cut into pieces. */
typedef struct LongList
{
	uint64_t	table;			/* first slot of its table */
	/* pieces of the lists before it whose tables exist at the same time */
	uint64_t	piece;
	uint64_t	slab;			/* slabs of their tables */
	uint64_t	length;			/* in entries */
	uint32_t	shift;			/* log2 of the slots of its table */
	uint32_t	item;			/* index in the order */
} LongList;

/* Tables of long lists. Arrays in device memory. */
typedef struct Arena
{
	uint32_t   *keys;			/* [nslots], EMOGI_NO_VERTEX between uses */
	unsigned long long *sums;	/* [nslots], 0 between uses */
	char	   *found;			/* results of slabs, FOUND_BYTES each */
	uint64_t	nslots;
	uint64_t	nfound;
} Arena;

/* A growable array in host memory, freed at the end of its scope. */
template <typename T>
struct HostArray
{
	T		   *at;
	uint64_t	room;

	HostArray() : at(NULL), room(0) {}
	~HostArray() { free(at); }
	HostArray(const HostArray &) = delete;
	HostArray &operator=(const HostArray &) = delete;

	EmogiStatus
	fit(uint64_t count, EmogiError *error)
	{
		T		   *grown;

		if (count <= room)
			return EMOGI_OK;
		grown = (T *) realloc(at, count * sizeof(T));
		if (grown == NULL)
			return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory",
									 "an order of nodes, %llu bytes",
									 (unsigned long long) (count * sizeof(T)));
		at = grown;
		room = count;
		return EMOGI_OK;
	}
};

/* An order of nodes, or of the groups that become nodes, by batch and class. */
struct Order
{
	uint64_t	count = 0;
	uint64_t	listed = 0;		/* entries of all lists */
	uint32_t	nbatches = 0;
	uint64_t	nlongs = 0;
	HostArray<unsigned long long> starts;	/* [nbatches * NCLASSES + 1] */
	HostArray<LongList> longs;	/* [nlongs] */
	HostArray<uint64_t> lengths;	/* scratch */
};

/* State of a run. */
struct Search
{
	Run		   *run = NULL;
	Arrays		arrays = {};
	Room		rooms[2] = {};
	Room		first_room = {};
	EmogiGainParameters	gains = {};
	double		tolerance = 0.0;
	double		min_gain = 0.0;
	long long	gained = 0;
	uint64_t	nempty = 0;
	uint64_t	edges_read = 0;
	uint64_t	edges_read_first = 0;	/* of the first level */
	Arena		arena = {};
	LongList   *longs = NULL;	/* [longs_room], device memory */
	uint64_t	longs_room = 0;
	Order		order;
};

/* Get the weight of an entry. */
static __device__ __forceinline__ long long
level_weight(const Level &level, uint64_t e)
{
	switch (level.units)
	{
		case EMOGI_UNITS_U8:
			return __ldg((const uint8_t *) level.weights + e);
		case EMOGI_UNITS_U16:
			return __ldg((const uint16_t *) level.weights + e);
		case EMOGI_UNITS_U32:
			return __ldg((const uint32_t *) level.weights + e);
		case EMOGI_UNITS_I64:
			return __ldg((const long long *) level.weights + e);
		case EMOGI_UNITS_ONE:
			break;
	}
	return 1;
}

/* Add to a sum of weight units. */
static __device__ __forceinline__ void
add_units(long long *sum, long long value)
{
	atomicAdd((unsigned long long *) sum, (unsigned long long) value);
}

/* Get the class of a list of this length. */
static __host__ __device__ __forceinline__ uint32_t
class_of(uint64_t length)
{
	return length <= SHORT_ENTRIES ? 0 : length <= WARP_ENTRIES ? 1 : length <= BLOCK_ENTRIES ? 2 :
		3;
}

/* Get the number of slabs of a table. */
static inline uint64_t
count_slabs(uint32_t shift)
{
	return ((UINT64_C(1) << shift) + SLAB_SLOTS - 1) / SLAB_SLOTS;
}

/* Get the grid size of a kernel with one thread for each of `count` items. */
static inline int
blocks_for(const Search *search, uint64_t count)
{
	const uint64_t blocks = (count + BLOCK_THREADS - 1) / BLOCK_THREADS;
	const uint64_t max = (uint64_t) search->run->full_blocks * 4;

	return (int) (blocks < 1 ? 1 : blocks < max ? blocks : max);
}

/* Launch a kernel with one thread for each of `count` items. */
#define LAUNCH_EACH(kernel, search, count, ...) \
	CUDA_LAUNCH(kernel, blocks_for(search, count), BLOCK_THREADS, \
				(search)->run->state->stream, __VA_ARGS__)

/* Wait for the kernels, and get and zero their sums. */
extern EmogiStatus emogi_communities_take_sums(Search *search, Sums *sums, EmogiError *error);

/* Make the first level, like emogi_communities_begin in engine/cpu. */
extern EmogiStatus emogi_communities_first(Search *search, const EmogiGraph *graph,
										   EmogiResult *result, Level *level, EmogiError *error);

/* Set the scale of gains from the sum of all weights. */
extern void emogi_communities_weigh(Search *search, long long whole);

/*
 * Order the nodes that have a mark by batch, or in one batch if `together`. distinct: upper bound
 * of the number of distinct communities around a node.
 */
extern EmogiStatus emogi_communities_order(Search *search, const Level *level, uint8_t mark,
										   bool together, uint64_t salt, uint64_t sweep,
										   uint64_t distinct, EmogiError *error);

/*
 * Order nodes by arrays.number, of ngroups groups: group g has arrays.chosen from arrays.starts[g]
 * on, and arrays.before has the entries before each node. The order is of the groups that have
 * entries.
 */
extern EmogiStatus emogi_communities_order_groups(Search *search, const Level *level,
												  uint64_t ngroups, EmogiError *error);

/* Renumber the communities of a partition in place, and get their number. */
extern EmogiStatus emogi_communities_number(Search *search, uint32_t *partition, uint64_t nnodes,
											uint64_t *count, EmogiError *error);

/* Like emogi_communities_move, _refine, _split and _aggregate in engine/cpu. */
extern EmogiStatus emogi_communities_move_all(Search *search, const Level *level, bool last,
											uint64_t salt, uint64_t *ncommunities,
											EmogiError *error);
extern EmogiStatus emogi_communities_refine_all(Search *search, const Level *level, uint64_t salt,
												EmogiError *error);
extern EmogiStatus emogi_communities_split_parts(Search *search, const Level *level,
												 uint64_t *nparts, EmogiError *error);
extern EmogiStatus emogi_communities_aggregate_all(Search *search, const Level *level,
										   const uint32_t *partition, uint64_t ncommunities,
										   Room *room, Level *made, EmogiError *error);

#endif							/* EMOGI_COMMUNITIES_CUH */
