/** Exponential moving average, corrected for its start; gaps stay gaps. @param weight of what came before, in [0, 1). */
export function smoothed(values: readonly (number | null)[], weight: number): readonly (number | null)[] {
  if (weight === 0) return values;
  let [sum, norm] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    norm = weight * norm + (1 - weight);
    return sum / norm;
  });
}
