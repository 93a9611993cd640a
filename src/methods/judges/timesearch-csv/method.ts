import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { evidenceReplay } from "./evidenceReplay.ts";

export const timesearchCsv = method({
  id: "timesearch-csv",
  family: "judges",
  summary: "the policy judges its own search: it answers again from the evidence alone",
  paper:
    "TimeSearch-R: Adaptive Temporal Search for Long-Form Video Understanding via Self-Verification Reinforcement Learning",
  mechanism:
    "An agent searches and then answers. To reward the search without labels of it, the same policy is shown the question and what was found, and nothing that the agent wrote, and answers again. If it is right again, the evidence was complete. That pays only where the first answer was right as well.",
  equation: [
    "r = 1.0 · form + 0.5 · acc + 0.5 · q(acc) · q(acc′)          q(z) = 1 where z > ½, else z",
    "acc′: how right y′ ~ π(· | question, evidence) is; 0 without evidence",
    "A = r − mean r                                               over the group",
  ].join("\n"),
  source:
    "the reward, its weights, the gate and the advantage without a deviation from the paper's code; text in place of video frames, and one turn without a further instruction for the second answer are ours; where nothing can come of it, it is not asked; groups without a spread count for nothing and are not replaced by others",
  options: {
    form: { help: "weight of an attempt that ends by itself", default: 1, low: 0, high: 1e6 },
    answer: { help: "weight of a right answer", default: 0.5, low: 0, high: 1e6 },
    evidence: { help: "weight of evidence that is enough", default: 0.5, low: 0, high: 1e6 },
  },
  slots: (_s, { form, answer, evidence }) => ({
    feedback: evidenceReplay({ form, answer, evidence }),
    advantage: groupNormalised({ scale: "none" }),
  }),
});
