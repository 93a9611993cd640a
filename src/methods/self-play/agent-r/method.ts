import { constant } from "../../../advantage/constant.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { revising } from "./revising.ts";

/** The revision thought: a word that environments take as an action without effect. */
export const rethink = "rethink";

export const agentR = method({
  id: "agent-r",
  family: "self-play",
  summary:
    "imitates good episodes of a tree search, and bad ones that are cut at their first error and revised",
  paper: "Agent-R: Training Language Model Agents to Reflect via Iterative Self-Training",
  mechanism:
    "Agents that imitate only right episodes never see what to do after a mistake. A tree search with the current policy finds good and bad episodes that begin alike. A bad one is cut right after its first wrong action, a short thought that it has to be revised follows, and then the good actions from the situation where the two parted. These revisions are imitated together with the good episodes, except for the wrong actions, which stay context. The bar for good episodes rises over the iterations.",
  equation: [
    "select argmax Q(s, a) + c √(ln N(s) / N(s, a));   bad: r ≤ β,   good: r > α,  α → 1",
    "t′ = the first action of the bad episode, from where the two part at t0, that is called wrong",
    "revision = bad[0 … t′] ⊕ thought ⊕ good[t0 …]",
    "loss = −mean over tokens of good episodes, of thoughts and of what follows them of ln π",
  ].join("\n"),
  source:
    "the pipeline from a review of the paper's code; β, the rise of α and c from memory. Ours: the critiquer is the environment's template, not the policy itself; a revision is played again and kept only where it succeeds; the thought is a turn of its own; each bad episode is paired with the good one that shares most actions with it; no conversations on other subjects are mixed in; sizes",
  says: [rethink],
  options: {
    simulations: { help: "episodes of the search, per task", default: 16, low: 1, whole: true },
    width: { help: "actions sampled in a situation", default: 3, low: 1, whole: true },
    exploration: { help: "c, the weight of exploration", default: 0.5, low: 0 },
    most: { help: "bad episodes that are revised, per task", default: 4, low: 1, whole: true },
    bad: { help: "β: worth of a bad episode, at most", default: 0.2 },
    firstBar: { help: "α at the beginning", default: 0.5 },
    lastBar: { help: "α at the end", default: 1 },
  },
  slots: ({ temperature }, o) => ({
    rollout: revising(
      treeSearch({
        ...{ simulations: o.simulations, width: o.width, temperature },
        rule: { kind: "uct", exploration: o.exploration },
      }),
      {
        critiquer: scriptedCritiquer({ detail: "hint" }),
        thought: rethink,
        most: o.most,
        bad: o.bad,
        good: [o.firstBar, o.lastBar],
        at: "first error",
      },
    ),
    advantage: constant(),
    objective: likelihood(),
  }),
});
