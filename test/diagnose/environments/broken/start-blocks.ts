import { parcels } from "../parcels.ts";

export default parcels({
  start: () => {
    for (;;);
  },
});
