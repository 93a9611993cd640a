import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task, random) =>
    play({ ...task, metadata: { city: ["lima", "oslo", "cairo"][random.below(3)]! } }),
});
