import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task) =>
    play(task, { observe: async () => ({ role: "agent", observation: { messages: "hello" } }) }),
});
