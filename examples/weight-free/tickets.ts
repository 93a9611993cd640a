/** Tickets of six faults, each with its plan; two tickets of one fault share three words. */
import { tickets } from "../../src/env/index.ts";

export default tickets({ faults: 6, plans: 6, writers: 6, tickets: 200 });
