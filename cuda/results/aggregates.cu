/*
 * aggregates.cu: aggregates of a result in place of all of it: groups of its rows, or its first
 * rows in an order.
 */
#include "cuda/results/aggregates.cuh"
#include "cuda/results/aggregates_rows.cuh"

/* Describe the wanted rows; return false if not all columns are in device memory. */
static bool
describe_rows(const Run *run, const EmogiQuery *query, Rows *rows)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;

	*rows = {};
	rows->nvertices = run->nvertices;
	rows->none = columns[0].none;
	rows->has_none = columns[0].none == columns[0].none;	/* NaN: every vertex has a row */
	for (int i = 0; i < EMOGI_MAX_COLUMNS && columns[i].name != NULL; i++)
	{
		if (run->columns[i] == NULL)
			return false;
		rows->arrays[i] = run->columns[i];
		rows->types[i] = columns[i].type;
		rows->ranges[i] = query->summary->ranges[i];
	}
	return true;
}

/* Copy all columns that have not been copied to the result. */
static EmogiStatus
fetch_columns(Run *run, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;

	for (int i = 0; i < EMOGI_MAX_COLUMNS && columns[i].name != NULL; i++)
		if (run->columns[i] != NULL)
			TRY(emogi_run_fetch(run, result->columns[i].any, run->columns[i],
								run->nvertices * emogi_algorithm_column_bytes(columns[i].type),
								error));
	return EMOGI_OK;
}

EmogiStatus
emogi_aggregates_make(Run *run, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	const EmogiSummary *summary = query->summary;
	uint64_t	count = 0;
	bool		fits = false;
	EmogiStatus status = EMOGI_OK;
	Rows		rows;

	if (describe_rows(run, query, &rows))
		status = summary->kind == EMOGI_SUMMARY_GROUPS ?
			emogi_aggregates_groups(run, &rows, summary, &count, &fits, error) :
			emogi_aggregates_first(run, &rows, summary, result, &count, &fits, error);
	if (status != EMOGI_OK && status != EMOGI_NO_MEMORY)
		return status;
	if (status == EMOGI_NO_MEMORY || !fits)
		return fetch_columns(run, query, result, error);
	if (summary->kind == EMOGI_SUMMARY_GROUPS && summary->column < 0 && count == 0)
	{
		summary->labels[0] = 0;
		summary->counts[0] = 0;
		count = 1;
	}
	result->nsummarized = count;
	result->is_summarized = true;
	return EMOGI_OK;
}

