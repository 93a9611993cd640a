/** A curve no bigger than a word: values from 0 to 1, gaps where nothing was measured. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | null)[];
  readonly label: string;
}) {
  const [width, height] = [120, 24];
  const x = (i: number): number =>
    values.length > 1 ? (i / (values.length - 1)) * (width - 2) + 1 : width / 2;
  const y = (value: number): number => height - 2 - Math.min(1, Math.max(0, value)) * (height - 4);
  // toFixed takes as long as all the rest of a row
  const tenth = (n: number): number => Math.round(10 * n) / 10;
  let path = "";
  values.forEach((value, i) => {
    if (value === null) return;
    path += `${path === "" || values[i - 1] === null ? "M" : "L"}${tenth(x(i))} ${tenth(y(value))}`;
  });
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
}
