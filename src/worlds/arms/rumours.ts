/** Self-training on one's own majority, and on true labels, where a rumour is likelier than the truth and where it is not. */
import type { Signal } from "../../core/signal.ts";
import type { Feedback } from "../../core/slots.ts";
import type { Trajectory } from "../../core/types.ts";
import { expectedValue, meanOver } from "../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../engine/tabular/engine.ts";
import { outcome } from "../../feedback/outcome.ts";
import { method } from "../../method/method.ts";
import { type RunSummary, train } from "../../train/run.ts";
import { plainAscent } from "../../train/trainingArm.ts";
import type { WatchOptions } from "../../train/watchOptions.ts";
import { type Rumours, rumours } from "../rumours.ts";

const answerOf = ({ turns }: Trajectory): string => turns.at(-1)?.action.content.trim() ?? "";

/** Pays 1 for the answer that most attempts at the task give, of equally frequent ones the first, else 0. */
export const ownMajority =
  (): Feedback =>
  async (_ctx, { trajectories }) =>
    [...Map.groupBy(trajectories, ({ task }) => task).values()].flatMap((group) => {
      const counts = [...Map.groupBy(group, answerOf)].map(([answer, { length }]) => ({ answer, length }));
      const most = counts.reduce((a, b) => (b.length > a.length ? b : a)).answer;
      return group.map((t): Signal => {
        const value = Number(answerOf(t) === most);
        return {
          kind: "reward",
          channel: "outcome",
          about: [{ trajectory: t.id }],
          value,
          source: "majority",
        };
      });
    });

/** "led astray": the majority is mostly wrong. "mostly right": it is mostly right. "labelled": true labels, where the majority would be mostly wrong. */
export const rumourKinds = ["led astray", "mostly right", "labelled"] as const;
export type RumourKind = (typeof rumourKinds)[number];

const worldOf = (kind: RumourKind, seed: number): Rumours =>
  rumours(kind === "mostly right" ? { right: 0.6, rumour: 0.15, seed } : { right: 0.3, rumour: 0.45, seed });

/** What came of a run: its summary, and the accuracy of the weights that it kept, exact, over the training questions. */
export interface RumourRun {
  readonly summary: RunSummary;
  readonly accuracy: number;
}

/** Trains 48 iterations in a folder. Step size 8 of plain ascent, for which a run is sure of its answers after some 30 iterations. */
export async function rumourRun(
  kind: RumourKind,
  seed: number,
  of: { readonly out: string; readonly watch?: WatchOptions },
): Promise<RumourRun> {
  const world = worldOf(kind, seed);
  const engine = () => tabularEngine({ context: "message", prior: world.prior });
  const recipe = method({
    id: "self-trained",
    family: "self-play",
    summary: "paid by the majority of one's own answers, or by labels",
    slots: { feedback: kind === "labelled" ? outcome() : ownMajority() },
  });
  const summary = await train(
    {
      ...of,
      environment: world,
      method: recipe.build({ ...plainAscent, tasks: 8, groupSize: 8, learningRate: 8 }),
      engine: engine(),
      seed,
      iterations: 48,
      warmStart: false,
      evaluation: { tasks: 0, every: 0 },
    },
    () => undefined,
    new AbortController().signal,
  );
  const kept = await engine().open("kept", summary.weights.replace(/\/model\.safetensors$/, ""));
  const accuracy = await meanOver(world.tasks("train"), (task) =>
    expectedValue(kept, task, [world.rightOf(task)], () => 1),
  );
  return { summary, accuracy };
}
