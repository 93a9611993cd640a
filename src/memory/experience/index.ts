/** Lessons of earlier episodes, by the places that they are for. */
