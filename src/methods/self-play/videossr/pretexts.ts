/** Videos in tokens, altered so that what was done to them is the answer. */
import { WhetstoneError } from "../../../core/errors.ts";
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { alreadyOver, defineEnvironment } from "../../../env/environment.ts";
import { type Kind, kinds } from "./grades.ts";

/** Settings of {@link pretexts}. */
export interface PretextsOptions {
  /** Tasks of each kind, per split. Default 4. */
  readonly perKind?: number;
  /** Default: all three. */
  readonly of?: readonly Kind[];
  /** Frames of a video. Default 10. */
  readonly frames?: number;
  /** Pieces of a jigsaw. Default 5. */
  readonly pieces?: number;
  /** Most shapes of a kind that are pasted. Default 5. */
  readonly most?: number;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * The kind of a task.
 * @throws WhetstoneError `capability.missing` for a task of another environment, whose answers cannot be graded.
 */
export function kindOf(task: Task): Kind {
  const kind = kinds.find((one) => one === task.metadata.kind);
  if (kind) return kind;
  throw new WhetstoneError("capability.missing", {
    where: `task "${task.id}"`,
    got: "no kind of alteration in its metadata",
    expected: `one of ${kinds.join(", ")}`,
    fix: "Train videossr on tasks of altered videos.",
  });
}
/** The numbers of the right answer. */
export const truthOf = (task: Task): readonly number[] => task.metadata.truth as readonly number[];

const shapes = ["circle", "square"] as const;

/** What was done to a video, and the answer. */
interface Altered {
  readonly shown: readonly string[];
  readonly truth: readonly number[];
}

/** A segment is reversed: the answer is its first and last frame. */
function grounded(video: readonly string[], random: Random): Altered {
  const from = random.below(video.length - 2);
  const to = from + 2 + random.below(video.length - from - 2);
  const segment = video.slice(from, to + 1).toReversed();
  return { shown: [...video.slice(0, from), ...segment, ...video.slice(to + 1)], truth: [from, to] };
}

/** Shapes are pasted after frames: the answer is how many of each kind. */
function pasted(video: readonly string[], most: number, random: Random): Altered {
  const truth = shapes.map(() => 1 + random.below(most));
  const all = truth.flatMap((count, c) => Array.from({ length: count }, () => shapes[c]!));
  const at = new Map<number, string[]>();
  for (const shape of all) {
    const frame = random.below(video.length);
    at.set(frame, [...(at.get(frame) ?? []), shape]);
  }
  return { shown: video.flatMap((frame, k) => [frame, ...(at.get(k) ?? [])]), truth };
}

/** The video is cut in pieces, which are shuffled: the answer is which piece came first, second, and so on, as they are shown. */
function jigsaw(video: readonly string[], pieces: number, random: Random): Altered {
  const length = Math.ceil(video.length / pieces);
  const order = shuffled(
    Array.from({ length: pieces }, (_, k) => k),
    random,
  );
  const shown = order.flatMap((piece, k) => [`p${k}`, ...video.slice(piece * length, (piece + 1) * length)]);
  return { shown, truth: Array.from({ length: pieces }, (_, k) => order.indexOf(k)) };
}

/**
 * A video is a scene that moves by one token a frame, `t7 t8 t9 …`. The prompt names the kind of task and shows the altered video;
 * the answer is a few numbers. Only exactly these pay 1.
 */
export function pretexts(options: PretextsOptions = {}): Environment {
  const { perKind = 4, of = kinds, frames = 10, pieces = 5, most = 5, seed = 1 } = options;
  const tokens = 4 * frames;
  const splits = ["train", "test"] as const;

  function taskAt(kind: Kind, split: string, index: number): Task {
    const random = randomStream(seed).split(kind, split, index);
    const begins = random.below(tokens);
    const video = Array.from({ length: frames }, (_, k) => `t${(begins + k) % tokens}`);
    const { shown, truth } =
      kind === "grounding"
        ? grounded(video, random)
        : kind === "counting"
          ? pasted(video, most, random)
          : jigsaw(video, pieces, random);
    return {
      id: `pretexts/${kind}/${split}/${index}`,
      prompt: [{ role: "user", content: `${kind} : ${shown.join(" ")}` }],
      reference: truth.join(" "),
      metadata: { kind, truth },
      seed: random.seed,
    };
  }
  const outcomeOf = (task: Task, reply: string): number =>
    Number(reply.trim().split(/\s+/).join(" ") === truthOf(task).join(" "));

  return defineEnvironment({
    name: "pretexts",
    summary: "say what was done to a video: which segment, how many shapes, which order",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: pieces },
    vocabulary: () => [
      [...kinds, ":", ...shapes].join(" "),
      ...Array.from({ length: tokens }, (_, k) => `t${k}`),
      ...Array.from({ length: pieces }, (_, k) => `p${k}`),
      ...Array.from({ length: Math.max(frames, pieces, most + 1) }, (_, k) => `${k}`),
    ],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? of.flatMap((kind) => Array.from({ length: perKind }, (_, i) => taskAt(kind, split, i)))
        : [],
    expert: (task) => truthOf(task).join(" "),
    start: async (task) => {
      let ended = false;
      return {
        observe: async () => ({
          role: "agent",
          observation: { messages: [], stateKey: task.id, maxTokens: truthOf(task).length },
        }),
        act: async ({ content }) => {
          if (ended) return alreadyOver;
          ended = true;
          const outcome = outcomeOf(task, content);
          const end = { kind: "done", reason: outcome ? "right" : "wrong", success: outcome === 1 } as const;
          return { rewards: { outcome }, end };
        },
      };
    },
    verify: async (task, { turns }) => ({ outcome: outcomeOf(task, turns.at(-1)?.action.content ?? "") }),
  });
}
