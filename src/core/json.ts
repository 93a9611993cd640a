/** Plain data: what slot state, metadata and configs are made of, so that checkpoints are free. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
