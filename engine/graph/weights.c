/*
 * weights.c: convert runs of weights between doubles and their stored type.
 */
#include "weights.h"

/* The body of a loop over weights of a type. */
#define LOAD(type) \
	for (size_t i = 0; i < count; i++) \
		to[i] = (double) ((const type *) weights)[first + i]
#define STORE(type) \
	for (size_t i = 0; i < count; i++) \
		((type *) weights)[first + i] = (type) (from[i] + 0.0)	/* -0 is 0 */

void
emogi_weights_load(double *to, const void *weights, EmogiWeightType type, uint64_t first,
				   size_t count)
{
	switch (type)
	{
		case EMOGI_WEIGHT_NONE:
			for (size_t i = 0; i < count; i++)
				to[i] = 0.0;
			break;
		case EMOGI_WEIGHT_U8:
			LOAD(uint8_t);
			break;
		case EMOGI_WEIGHT_U16:
			LOAD(uint16_t);
			break;
		case EMOGI_WEIGHT_U32:
			LOAD(uint32_t);
			break;
		case EMOGI_WEIGHT_F32:
			LOAD(float);
			break;
		case EMOGI_WEIGHT_F64:
			LOAD(double);
			break;
	}
}

void
emogi_weights_store(void *weights, EmogiWeightType type, uint64_t first, const double *from,
					size_t count)
{
	switch (type)
	{
		case EMOGI_WEIGHT_NONE:
			break;
		case EMOGI_WEIGHT_U8:
			STORE(uint8_t);
			break;
		case EMOGI_WEIGHT_U16:
			STORE(uint16_t);
			break;
		case EMOGI_WEIGHT_U32:
			STORE(uint32_t);
			break;
		case EMOGI_WEIGHT_F32:
			STORE(float);
			break;
		case EMOGI_WEIGHT_F64:
			STORE(double);
			break;
	}
}
