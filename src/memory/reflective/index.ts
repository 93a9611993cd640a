/** What agents are told, rewritten from what happened under it and selected over a Pareto front of tasks. */
