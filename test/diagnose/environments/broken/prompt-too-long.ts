import { parcels, tasksBetween, user } from "../parcels.ts";

const long = user("a parcel has come ".repeat(100));
export default parcels({
  tasks: (split) =>
    tasksBetween(split === "train" ? 0 : 24, split === "train" ? 24 : 42).map((task) => ({
      ...task,
      prompt: [long],
    })),
});
