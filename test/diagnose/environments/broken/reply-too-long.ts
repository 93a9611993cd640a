import { parcels } from "../parcels.ts";

export default parcels({
  limits: { turns: 3, actionTokens: 1, seconds: 0.3 },
  expert: () => "north north north",
});
