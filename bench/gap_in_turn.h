/*
 * gap_in_turn.h: run a kernel of the GAP Benchmark Suite trial by trial, on request.
 *
 * bench/gap compiles each of GAP's unmodified kernels with this file, by -include.
 *
 * A line on standard input starts a trial and lists the sources of the trial. If it lists none, the
 * kernel picks them as usual. The lines "Trial Time:" and the output of -a are written to standard
 * output, followed by "Turn:" at the end of the trial.
 */
#ifndef EMOGI_BENCH_GAP_IN_TURN_H
#define EMOGI_BENCH_GAP_IN_TURN_H

#include "benchmark.h"
#include "command_line.h"

#include <deque>
#include <iostream>
#include <sstream>
#include <string>

static std::deque<NodeID> told_sources;

template <typename GraphT>
class SourcePickerInTurn : public SourcePicker<GraphT>
{
  public:
	explicit SourcePickerInTurn(const GraphT &graph, NodeID given = -1) : SourcePicker<GraphT>(graph, given) {}

	/* Get the next source of the line, or a random one. */
	NodeID PickNext()
	{
		if (told_sources.empty())
			return SourcePicker<GraphT>::PickNext();
		const NodeID source = told_sources.front();
		told_sources.pop_front();
		return source;
	}
};

/* Run and time the kernel for each line of input. */
template <typename GraphT, typename GraphFunc, typename AnalysisFunc, typename VerifierFunc>
void
BenchmarkInTurn(const CLApp &cli, const GraphT &graph, GraphFunc kernel, AnalysisFunc stats, VerifierFunc)
{
	std::string line;

	while (std::getline(std::cin, line))
	{
		std::istringstream words(line);
		NodeID source;
		Timer timer;

		told_sources.clear();
		while (words >> source)
			told_sources.push_back(source);
		timer.Start();
		auto result = kernel(graph);
		timer.Stop();
		PrintTime("Trial Time", timer.Seconds());
		if (cli.do_analysis())
			stats(graph, result);
		std::cout << std::flush;
		printf("Turn:\n");
		fflush(stdout);
	}
}

#define SourcePicker SourcePickerInTurn
#define BenchmarkKernel BenchmarkInTurn

#endif /* EMOGI_BENCH_GAP_IN_TURN_H */
