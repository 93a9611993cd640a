import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task) =>
    play(task, {
      act: async ({ content }) => ({
        rewards: { outcome: 0 },
        text: `${content} is not allowed here`,
        end: { kind: "done", reason: "refused", success: false },
      }),
    }),
});
