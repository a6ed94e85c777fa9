/*
 * parameter.c: run-time table of the parameters (parameters.h)
 */
#include "parameters.h"

/* Check that the fields have the types that the rows give. */
#define TYPE_INT int64_t
#define TYPE_BIGINT uint64_t
#define TYPE_FLOAT8 double
#define TYPE_BOOLEAN bool
#define CHECK_FIELD(KIND, its_name, its_type, field, ...) \
	_Static_assert(_Generic(((EmogiQuery *) NULL)->field, TYPE_##its_type: 1, default: 0), \
				   #field " has another type");
EMOGI_PARAMETERS(CHECK_FIELD)

const EmogiParameterRow emogi_parameter_rows[EMOGI_WEIGHTED + 1] = {
#define PARAMETER(KIND, its_name, its_type, field, its_min, its_max, its_none, its_hint) \
	[EMOGI_##KIND] = {.name = #its_name, .type = EMOGI_PARAMETER_##its_type, \
		.offset = offsetof(EmogiQuery, field), \
		.min = (double) (its_min), .max = (double) (its_max), .none = (double) (its_none), \
		.hint = its_hint},
	EMOGI_PARAMETERS(PARAMETER)
#undef PARAMETER
};

double
emogi_parameter_value(const EmogiParameterRow *row, const EmogiQuery *query)
{
	const void *field = (const char *) query + row->offset;

	switch (row->type)
	{
		case EMOGI_PARAMETER_INT:
			return (double) *(const int64_t *) field;
		case EMOGI_PARAMETER_BIGINT:
			return (double) *(const uint64_t *) field;
		case EMOGI_PARAMETER_FLOAT8:
			return *(const double *) field;
		case EMOGI_PARAMETER_BOOLEAN:
			return *(const bool *) field ? 1.0 : 0.0;
	}
	return (double) NAN;
}
