/*
 * torn.h: memory with only the first page mapped, for tests of failed allocations
 */
#ifndef TORN_H
#define TORN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Map only the first page of a range of memory. A write to another page raises SIGSEGV. */
static inline void *
map_torn(size_t bytes)
{
	char *memory = mmap(NULL, bytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
						0);

	if (memory == MAP_FAILED || munmap(memory + 4096, bytes + 4096) != 0)
		abort();
	return memory;
}

/*
 * Return true if the kernel reports pages that cannot be allocated. qemu's emulation of another
 * processor returns success for MADV_POPULATE_WRITE with any range.
 */
static inline bool
is_torn_noticed(void)
{
	void	   *memory = map_torn(4096);
	const bool	is_noticed = madvise(memory, 8192, MADV_POPULATE_WRITE) != 0;

	munmap(memory, 4096);
	if (!is_noticed)
		fprintf(stderr, "skipped: madvise does not report failing page allocations\n");
	return is_noticed;
}

#endif
