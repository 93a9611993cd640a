import { parcels, tasksBetween } from "../parcels.ts";

const [from, until] = [
  { train: 0, validation: 24, test: 30 },
  { train: 24, validation: 30, test: 42 },
] as const;
export default parcels({
  tasks: (split) =>
    tasksBetween(from[split as "train"], until[split as "train"]).map((task, i) => ({
      ...task,
      id: `parcel-${i % 10}`,
    })),
});
