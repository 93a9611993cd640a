import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({
  splits: ["train", "test"],
  tasks: (split) => (split === "train" ? tasksBetween(0, 24) : tasksBetween(18, 42)),
});
