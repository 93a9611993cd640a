/** The artefacts of a run, as plain data in its state: the current one, the proposed ones and the best one. */
import { z } from "zod";
import { type Leak, leakCheck } from "../common/text/leaks.ts";
import { unknownName } from "../common/text/suggest.ts";
import { type Artefact, type ArtefactVersion, artefactVersion } from "../core/artefact.ts";
import type { Artefacts } from "../core/context.ts";
import type { Counter } from "../core/counter.ts";
import type { Json } from "../core/json.ts";
import type { Environment } from "../env/environment.ts";
import { heldOutTasks } from "./heldOut.ts";
import type { RunState } from "./state.ts";

/** Their key in the run's memory. */
const place = "whetstone.artefacts";

const version = z.custom<ArtefactVersion & Json>((value) => typeof value === "object" && value !== null);
const schema = z.object({
  versions: z.record(z.string(), version),
  current: z.string().nullable(),
  /** In force when validation was best. */
  best: z.string().nullable(),
});
type Kept = z.output<typeof schema>;

type Remembering = Pick<RunState, "memory">;

const read = ({ memory }: Remembering): Kept =>
  memory[place] === undefined ? { versions: {}, current: null, best: null } : schema.parse(memory[place]);

const isPlain = (value: unknown): value is Json => value !== undefined;

function write(state: Remembering, kept: Kept): void {
  // without undefined properties, as a checkpoint restores it
  const plain: unknown = JSON.parse(JSON.stringify(kept));
  if (isPlain(plain)) state.memory[place] = plain;
}

/** @param leaksIn the held-out answers that a candidate contains. */
export function artefactsIn(
  state: Remembering,
  leaksIn: (artefact: Artefact) => readonly Leak[],
  count: (counter: Counter, amount: number) => void,
): Artefacts {
  return {
    current: () => currentArtefact(state),
    version: (id) => read(state).versions[id],
    propose(candidate) {
      count("artefacts.proposed", 1);
      const leaks = leaksIn(candidate.artefact);
      if (leaks.length > 0) {
        count("artefacts.refused", 1);
        return { refused: [...new Set(leaks.map(({ part }) => part))] };
      }
      const kept = read(state);
      // runs do not read the clock, so the store adds the time
      const made = artefactVersion({ ...candidate, created: 0 });
      const known = kept.versions[made.id];
      if (!known) write(state, { ...kept, versions: { ...kept.versions, [made.id]: plainVersion(made) } });
      return known ?? made;
    },
    adopt(id) {
      const kept = read(state);
      if (!kept.versions[id]) throw unknownName("artefacts.adopt", id, Object.keys(kept.versions));
      write(state, { ...kept, current: id });
    },
  };
}

function plainVersion(made: ArtefactVersion): ArtefactVersion & Json {
  return version.parse(JSON.parse(JSON.stringify(made)));
}

/** The check of a run's candidates: nothing of the environment's splits but "train" may stand in them. Made when it is first needed. */
export function heldOutLeaks(environment: Pick<Environment, "splits" | "tasks">) {
  let check: ((artefact: Artefact) => readonly Leak[]) | undefined;
  return (artefact: Artefact): readonly Leak[] => {
    check ??= leakCheck(heldOutTasks(environment), environment.tasks("train"));
    return check(artefact);
  };
}

/** The current artefact. */
export function currentArtefact(state: Remembering): ArtefactVersion | undefined {
  const { current, versions } = read(state);
  return current === null ? undefined : versions[current];
}

/** Every version that was proposed, oldest first. */
export const proposedArtefacts = (state: Remembering): readonly ArtefactVersion[] =>
  Object.values(read(state).versions);

/** Marks the current artefact as the best so far. */
export function markBest(state: Remembering): void {
  const kept = read(state);
  if (kept.current !== null) write(state, { ...kept, best: kept.current });
}

/** The best artefact; the current one if none was marked. */
export function bestArtefact(state: Remembering): ArtefactVersion | undefined {
  const { best, versions } = read(state);
  return best === null ? currentArtefact(state) : versions[best];
}

/** Makes the best artefact the current one. */
export function takeBest(state: Remembering): void {
  const kept = read(state);
  if (kept.best !== null) write(state, { ...kept, current: kept.best });
}
