/** Experience library: lessons of earlier episodes, by the situations that they apply to. */
