import { parcels, play } from "../parcels.ts";

export default parcels({
  abilities: new Set(),
  start: async (task) => {
    const sound = play(task);
    return {
      ...sound,
      act: async (action) => {
        const step = await sound.act(action);
        const success = step.end?.kind === "done" && step.end.success === true;
        return step.end ? { ...step, rewards: { outcome: success ? -1 : 0 } } : step;
      },
    };
  },
});
