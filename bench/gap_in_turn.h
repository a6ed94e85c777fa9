/*
 * gap_in_turn.h: has a program of the GAP Benchmark Suite wait for its turn. bench/gap compiles each kernel of GAP with it, by -include;
 * the kernels are GAP's own, to the letter.
 *
 * A line on standard input begins a trial, and holds the sources of that trial; without any the kernel picks them as ever. Lines
 * "Trial Time:" and what -a prints, of every trial, go to standard output, and "Turn:" when the trial is over.
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

	/* Get the next source that was told, or else one at random. */
	NodeID PickNext()
	{
		if (told_sources.empty())
			return SourcePicker<GraphT>::PickNext();
		const NodeID source = told_sources.front();
		told_sources.pop_front();
		return source;
	}
};

/* Run and time the kernel whenever a line comes. */
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
