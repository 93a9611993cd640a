/** Reflective evolution: instructions are rewritten from episodes played with them, and selected by a Pareto front over tasks. */
