/*
 * persistent_tuning.cuh: the tuned constants of the persistent kernel.
 *
 * They are of 7b4563e, but for what is said. The figures of an NVIDIA H200 in bench/RESULTS.md, "Deep graphs" (ad4a202), are
 * with these values.
 */
#ifndef EMOGI_PERSISTENT_TUNING_CUH
#define EMOGI_PERSISTENT_TUNING_CUH

#define PERSISTENT_THREADS 1024 /* of a block: the more, the fewer blocks have to meet */
#define PERSISTENT_BLOCKS 32	/* the more, the slower the barrier: 1 us */
#define PERSISTENT_ENTRIES (1u << 18)	/* the largest queue, and the most entries of a step */
#define PERSISTENT_STEPS 4096	/* of a launch, some ms; the host polls cancel in between */
#define ALONE_ENTRIES 2048		/* up to which one block is faster than all */
#define CHUNK_ITEMS 8			/* that a block takes in turn: neighbours together, work spread */
#define POLL_NS 20				/* between looks at a barrier */
#define IDLE_NS 100				/* the same while one block works alone (1b2bba1; 200 before) */
#define STOP_STEPS 16			/* of all blocks, for a look at `stop`, which costs a read over the link (1b2bba1) */

/*
 * Queues under a cap on device memory: without one they are the largest, for small Graphs too, since 4e919ae (NVIDIA H200,
 * SSSP of the Debian graph 1.01 to 0.47 ms); that they take a fiftieth of the cap is of b47e0c8.
 */
#define PERSISTENT_CAP_BYTES 4096	/* of the cap for each item of a queue .. */
#define PERSISTENT_LEAST 1024	/* .. but not fewer */

/*
 * The most lines of a step in host placement, by how far the lists reach. Above it a wide step is faster, in spite of
 * its 45 us of launches, for it reads in ascending order: 2.5 ns a line. Items are in no order, which costs 2.5 ns, 9 ns
 * and 23 ns a line as address translation fails (docs/design.md, "Facts measured on an H200").
 */
#define NEAR_BYTES (UINT64_C(512) << 20)
#define NEAR_LINES 16384
#define MIDDLE_BYTES (UINT64_C(2) << 30)
#define MIDDLE_LINES 6144
#define WIDE_LINES 2048

#endif							/* EMOGI_PERSISTENT_TUNING_CUH */
