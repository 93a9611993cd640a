/**
 * Functions that a statement may call: SQLite's built-ins that use no clock, randomness or files, as lower-case names. It is
 * an allow-list, so that functions of later SQLite versions are refused until they are reviewed.
 */
export const allowedFunctions: ReadonlySet<string> = new Set(
  [
    // scalars
    "abs ceil ceiling coalesce char concat concat_ws exp floor format glob hex if ifnull iif instr length like likely",
    "likelihood ln log log10 log2 lower ltrim max min mod nullif octet_length pi pow power printf quote radians replace",
    "round rtrim sign sqrt substr substring trim trunc typeof unicode unlikely upper zeroblob",
    // aggregates and windows
    "avg count group_concat string_agg sum total median percentile row_number rank dense_rank percent_rank cume_dist",
    "ntile lag lead first_value last_value nth_value",
  ].flatMap((line) => line.split(" ")),
);
