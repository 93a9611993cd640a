import { parcels } from "../parcels.ts";

const { expert: _, ...rest } = parcels();
export default rest;
