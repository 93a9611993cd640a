import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task) => {
    const episode = play(task);
    return { ...episode, fork: async () => episode };
  },
});
