import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({
  splits: ["train", "test"],
  tasks: (split) => tasksBetween(0, 24).map((task) => ({ ...task, id: `${split}/${task.id}` })),
});
