/** Successful episodes as examples in the prompt. */
