/*
 * persistent_tuning.cuh: tuned constants of the persistent kernel.
 *
 * They are of 7b4563e, unless stated differently. The figures of an NVIDIA H200 in
 * bench/RESULTS.md, "Deep graphs" (ad4a202), were measured with these values.
 */
#ifndef EMOGI_PERSISTENT_TUNING_CUH
#define EMOGI_PERSISTENT_TUNING_CUH

#define PERSISTENT_THREADS 1024	/* per block: more threads mean fewer blocks at the barrier */
#define PERSISTENT_BLOCKS 32	/* more blocks mean a slower barrier: 1 us */
#define PERSISTENT_ENTRIES (1u << 18)	/* maximum items in a queue, and maximum edges of a step */
#define PERSISTENT_STEPS 4096	/* per launch, some ms; the host polls cancel between launches */
#define BLOCK_STEP_EDGES 2048	/* up to this many edges, one block is faster than all */
/* that a block takes at a time: neighbors stay together, the work is spread */
#define CHUNK_ITEMS 8
#define POLL_NS 20				/* between polls of a barrier */
#define IDLE_NS 100				/* the same while one block works alone (1b2bba1; previously 200) */
/* of all blocks, between polls of `stop`, each a read over the link (1b2bba1) */
#define STOP_STEPS 16

/*
 * Queues under a cap on device memory. Without a cap they have the maximum size, for small graphs
 * too, since 4e919ae (NVIDIA H200, SSSP of the Debian graph: 1.01 ms before, 0.47 ms after). Queues
 * of a fiftieth of the cap date from b47e0c8.
 */
#define PERSISTENT_CAP_BYTES 4096	/* of the cap per queue item ... */
#define PERSISTENT_MIN_ITEMS 1024	/* ... but at least this many items */

/*
 * The maximum lines of a step in host placement, by the total size of the lists. Above the maximum
 * a wide step is faster, despite its 45 us of launches, because it reads in ascending order: 2.5 ns
 * per line. Items are in random order, which costs 2.5 ns, 9 ns and 23 ns per line as address
 * translation degrades (docs/design/hardware.md, "Facts measured on an H200").
 */
#define NEAR_BYTES (UINT64_C(512) << 20)
#define NEAR_LINES 16384
#define MIDDLE_BYTES (UINT64_C(2) << 30)
#define MIDDLE_LINES 6144
#define WIDE_LINES 2048

#endif							/* EMOGI_PERSISTENT_TUNING_CUH */
