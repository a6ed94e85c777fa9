/*
 * shards_sort.cu: the toolkit's radix sort, for shards_build.cu. It has a file of its own because
 * it takes half a minute to compile.
 */
/* before our headers, whose macros have the names of its template arguments */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/papers/shards_build.cuh"

cudaError_t
emogi_shards_sort(Transit *transit, uint64_t count, int begin_bit, int end_bit, cudaStream_t stream,
				  const unsigned long long **key, const uint32_t **index)
{
	cub::DoubleBuffer<unsigned long long> keys(transit->key[0], transit->key[1]);
	cub::DoubleBuffer<uint32_t> indexes(transit->index[0], transit->index[1]);
	const cudaError_t code =
		cub::DeviceRadixSort::SortPairs(transit->temporary, transit->temporary_bytes, keys, indexes,
										count, begin_bit, end_bit, stream);

	*key = keys.Current();
	*index = indexes.Current();
	return code;
}
