/** Weight that falls from 1 to 0 as half a cosine over `over` iterations, and stays 0. */
export const falling = (iteration: number, over: number): number =>
  iteration >= over ? 0 : (Math.cos((Math.PI * iteration) / over) + 1) / 2;

/** Its mirror: from 0 to 1, and stays 1. */
export const rising = (iteration: number, over: number): number => 1 - falling(iteration, over);
