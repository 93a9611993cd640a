import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task) =>
    play(task, { act: async ({ content }) => ({ reward: Number(content === task.reference), done: true }) }),
});
