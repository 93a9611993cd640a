import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({
  tasks: (split) =>
    // surplus properties of spread objects are not seen by the compiler
    tasksBetween(split === "train" ? 0 : 24, split === "train" ? 24 : 42).map((task) => ({
      ...task,
      answer: task.reference,
    })),
});
