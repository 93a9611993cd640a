import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({
  tasks: (split) => (split === "test" ? [] : split === "train" ? tasksBetween(0, 24) : tasksBetween(24, 30)),
});
