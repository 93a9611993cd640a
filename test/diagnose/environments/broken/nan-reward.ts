import { parcels, play } from "../parcels.ts";

export default parcels({
  start: async (task) =>
    play(task, {
      act: async () => ({
        rewards: { outcome: Number(undefined) },
        end: { kind: "done", reason: "said", success: false },
      }),
    }),
});
