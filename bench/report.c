/*
 * report.c: output of emogi_bench about runs and series.
 */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CSV_HEAD "graph,scale,degree,vertices,entries,algorithm,engine,placement,threads,source,trial,run_ms,wall_ms," \
	"transfer_ms,levels,reached,looked_at,link_bytes,teps,iteration_ms,cached,placed,link_lines,link_gbps,device_memory," \
	"distance,label," QUERY_HEAD
#define SUMMARY_HEAD "graph,scale,degree,vertices,entries,algorithm,engine,placement,placed,device_memory,cached,threads," \
	"runs,run_ms,run_ms_min,run_ms_max,wall_ms,iteration_ms,link_gb,link_gbps,gteps,levels,distance,verified,label," \
	QUERY_HEAD
#define QUERY_HEAD "mapping,requests_32,requests_64,requests_96,requests_128,asynchronous,prefetch,id_bytes"

/*
 * Open a result file for appending: an existing one with these columns, or a new one with a header
 * line.
 */
static FILE *
open_figures(const char *path, const char *head)
{
	FILE	   *figures = fopen(path, "a+");
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;

	if (figures == NULL)
		emogi_bench_die("could not open the result file", NULL);
	rewind(figures);
	length = getline(&line, &room, figures);
	if (length > 0 && line[length - 1] == '\n')
		line[length - 1] = '\0';
	if (length > 0 && strcmp(line, head) != 0)
		emogi_bench_die("the result file has different columns", NULL);
	free(line);
	fseek(figures, 0, SEEK_END);
	if (length <= 0)
		fprintf(figures, "%s\n", head);
	return figures;
}

FILE *
emogi_bench_open_csv(const char *path)
{
	return open_figures(path, CSV_HEAD);
}

FILE *
emogi_bench_open_summary(const char *path)
{
	return open_figures(path, SUMMARY_HEAD);
}

/* Count the list entries of the reached vertices; the algorithm defines which these are. */
static uint64_t
reached_entries(const EmogiGraph *graph, EmogiAlgorithm algorithm, const EmogiResult *result)
{
	const EmogiResultColumn *column = emogi_algorithm_row(algorithm)->columns;
	uint64_t	sum = 0;

	if (result->nreached == graph->nvertices)
		return graph->forward.nedges;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (emogi_algorithm_column_number(column, result->columns[0], v) != column->none)
			sum += graph->forward.offsets[v + 1] - graph->forward.offsets[v];
	}
	return sum;
}

/* Get a rate in 1e9 bytes per second. */
static double
gbps(double gigabytes, double ms)
{
	return ms > 0.0 ? gigabytes / ms * 1e3 : 0.0;
}

/* Write the columns that identify graph, algorithm and engine in both files. */
static void
write_names(FILE *file, const EmogiBench *bench, const EmogiSeries *series)
{
	const EmogiBenchOptions *options = &bench->options;

	fprintf(file, "%s,%d,%d,%llu,%llu,%s,%s,%s,", emogi_graph_names[options->generator], options->scale, options->degree,
			(unsigned long long) series->graph.nvertices, (unsigned long long) series->graph.forward.nedges,
			emogi_algorithm_row(series->query.algorithm)->name, series->engine->name,
			emogi_placement_names[series->query.placement]);
}

/* Write the distance of the ranks from the reference, or nothing if there is none. */
static void
write_distance(FILE *file, double distance)
{
	if (isnan(distance))
		fprintf(file, ",");
	else
		fprintf(file, "%.6g,", distance);
}

/* Write how the edges were read, and end the line. */
static void
write_query(FILE *file, const EmogiQuery *query, const double requests[4])
{
	fprintf(file, ",%s,%.0f,%.0f,%.0f,%.0f,%d,%d,%u\n", emogi_mapping_names[query->papers.mapping], requests[0], requests[1],
			requests[2], requests[3], query->papers.asynchronous, query->papers.prefetch, query->papers.id_bytes);
}

/* Write the line of a run. */
static void
write_run(const EmogiBench *bench, const EmogiSeries *series, const EmogiRun *run)
{
	const EmogiBenchOptions *options = &bench->options;
	const EmogiResult *result = &run->result;
	const int	at = series->count - 1;
	double		requests[4];

	for (int i = 0; i < 4; i++)
		requests[i] = (double) result->papers.requests[i];
	write_names(options->csv, bench, series);
	fprintf(options->csv, "%d,%u,%d,%.4f,%.4f,%.4f,%u,%llu,%llu,%llu,%.0f,%.4f,%d,%s,%llu,%.3f,%llu,",
			options->engine.cpu_threads, run->source, run->trial, result->run_ms, run->wall_ms, result->transfer_ms,
			result->nlevels, (unsigned long long) result->nreached, (unsigned long long) result->edges_traversed,
			(unsigned long long) result->link_bytes, series->figures[EMOGI_TEPS][at],
			series->figures[EMOGI_ITERATION_MS][at], options->cached, emogi_placement_names[result->placement],
			(unsigned long long) result->link_bytes / EMOGI_LINE_BYTES, gbps(series->figures[EMOGI_LINK_GB][at], result->run_ms),
			(unsigned long long) options->engine.device_memory_bytes);
	write_distance(options->csv, series->distance);
	fprintf(options->csv, "%s", options->label);
	write_query(options->csv, &series->query, requests);
}

void
emogi_bench_note_run(EmogiBench *bench, EmogiSeries *series, const EmogiRun *run)
{
	const EmogiResult *result = &run->result;
	const EmogiAlgorithm algorithm = series->query.algorithm;
	const int	at = series->count++;
	const double steps = emogi_algorithm_iterates(algorithm) && result->nlevels > 0 ? (double) result->nlevels : 1.0;

	series->placed = result->placement;
	series->figures[EMOGI_RUN_MS][at] = result->run_ms;
	series->figures[EMOGI_WALL_MS][at] = run->wall_ms;
	series->figures[EMOGI_ITERATION_MS][at] = result->run_ms / steps;
	series->figures[EMOGI_TEPS][at] = (double) reached_entries(&series->graph, algorithm, result) / 2 /
		(result->run_ms / steps) * 1e3;
	series->figures[EMOGI_LINK_GB][at] = (double) result->link_bytes / 1e9;
	series->figures[EMOGI_LEVELS][at] = result->nlevels;
	for (int i = 0; i < 4; i++)
		series->figures[EMOGI_REQUESTS + i][at] = (double) result->papers.requests[i];
	printf("  source %10u  run %9.3f ms  wall %9.3f ms  transfer %9.3f ms  %6.2f GTEPS  link %7.3f GB  levels %4u"
		   "  reached %llu  edges read %llu\n", run->source, result->run_ms, run->wall_ms, result->transfer_ms,
		   series->figures[EMOGI_TEPS][at] / 1e9, (double) result->link_bytes / 1e9, result->nlevels,
		   (unsigned long long) result->nreached, (unsigned long long) result->edges_traversed);
	if (series->query.papers.count_requests)
		printf("  requests of 32 bytes %llu, 64 %llu, 96 %llu, 128 %llu\n", (unsigned long long) result->papers.requests[0],
			   (unsigned long long) result->papers.requests[1], (unsigned long long) result->papers.requests[2],
			   (unsigned long long) result->papers.requests[3]);
	if (bench->options.csv != NULL)
		write_run(bench, series, run);
}

/* Compare doubles for qsort. */
static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Get the median of a figure; sorts the figure. */
static double
median(EmogiSeries *series, EmogiFigure figure)
{
	double	   *values = series->figures[figure];
	int			count = series->count;

	qsort(values, (size_t) count, sizeof(double), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void
emogi_bench_note_series(EmogiBench *bench, EmogiSeries *series)
{
	const EmogiBenchOptions *options = &bench->options;
	double		medians[EMOGI_NFIGURES];
	double	   *run_ms = series->figures[EMOGI_RUN_MS];

	for (int f = 0; f < EMOGI_NFIGURES; f++)
		medians[f] = median(series, (EmogiFigure) f);
	printf("%s: median of %d: run %.3f ms (%.3f to %.3f), wall %.3f ms, %.3f GTEPS, link %.3f GB, %.1f GB/s", series->title,
		   series->count, medians[EMOGI_RUN_MS], run_ms[0], run_ms[series->count - 1], medians[EMOGI_WALL_MS],
		   medians[EMOGI_TEPS] / 1e9, medians[EMOGI_LINK_GB], gbps(medians[EMOGI_LINK_GB], medians[EMOGI_RUN_MS]));
	if (emogi_algorithm_iterates(series->query.algorithm))
		printf(", %.0f iterations, %.3f ms each", medians[EMOGI_LEVELS], medians[EMOGI_ITERATION_MS]);
	printf("\n");
	if (options->summary == NULL)
		return;
	write_names(options->summary, bench, series);
	fprintf(options->summary, "%s,%llu,%d,%d,%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f,%.3f,%.4f,%.0f,",
			emogi_placement_names[series->placed], (unsigned long long) options->engine.device_memory_bytes,
			options->cached, options->engine.cpu_threads, series->count, medians[EMOGI_RUN_MS], run_ms[0],
			run_ms[series->count - 1], medians[EMOGI_WALL_MS], medians[EMOGI_ITERATION_MS], medians[EMOGI_LINK_GB],
			gbps(medians[EMOGI_LINK_GB], medians[EMOGI_RUN_MS]), medians[EMOGI_TEPS] / 1e9, medians[EMOGI_LEVELS]);
	write_distance(options->summary, series->distance);
	fprintf(options->summary, "%s,%s", options->verify ? "yes" : "no", options->label);
	write_query(options->summary, &series->query, &medians[EMOGI_REQUESTS]);
}

void
emogi_bench_note_cancels(EmogiSeries *series, int nruns)
{
	double		middle = series->count > 0 ? median(series, EMOGI_CANCEL_MS) : 0.0;

	printf("%s: %d of %d runs canceled", series->title, series->count, nruns);
	if (series->count > 0)
		printf(", returned after %.3f ms (median), %.3f ms (maximum)", middle,
			   series->figures[EMOGI_CANCEL_MS][series->count - 1]);
	printf("\n");
}
