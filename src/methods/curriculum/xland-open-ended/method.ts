import { method } from "../../../method/method.ts";
import { control, usefulTasks } from "./usefulTasks.ts";

export const xlandOpenEnded = method({
  id: "xland-open-ended",
  family: "curriculum",
  summary: "trains on tasks that the agent does not master yet but does better at than a weak control policy",
  paper: "Open-Ended Learning Leads to Generally Capable Agents",
  mechanism:
    "Before a task is trained on, the agent and a weak control policy play it a few times. It is taken where the agent does not master it yet, does better than the control often enough, and the control itself scores rarely: so it is neither too easy, nor out of reach, nor won by chance. As the agent improves, other tasks pass.",
  equation: [
    "take a task iff  share of agent's returns > m_s is below p_s,",
    "                 share of agent's returns > mean of control's + m_> is above p_>,",
    "                 share of control's returns > m_c is below p_c",
  ].join("\n"),
  source:
    "the three tests from the paper, with five episodes of each player in place of ten; thresholds and how long a task is kept are ours. The control is the first policy. Tasks are proposed from the training tasks. Populations that evolve the thresholds, generations that teach the next one, percentiles as scores, and pools of co-players are left out",
  frozen: { [control]: {} },
  options: {
    episodes: { help: "E, test episodes of the agent and of the control", default: 5, low: 1, whole: true },
    uses: { help: "iterations for which tasks that passed are kept", default: 10, low: 1, whole: true },
    tries: { help: "most tasks tested at a time", default: 16, low: 1, whole: true },
    tooEasy: {
      help: "p_s, share of mastered episodes from which a task is too easy",
      default: 0.8,
      low: 0,
      high: 1,
    },
    separates: {
      help: "p_>, share of episodes above the control that a task needs",
      default: 0.2,
      low: 0,
      high: 1,
    },
    byChance: {
      help: "p_c, share of the control's scoring episodes from which a task is refused",
      default: 0.3,
      low: 0,
      high: 1.01,
    },
  },
  slots: ({ tasks }, options) => ({ data: usefulTasks({ tasks, ...options }) }),
});
