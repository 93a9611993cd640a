/** Keeps words out that the project has given up, in names and in prose. Run by `npm run check`; prints each place with the word to use. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** Each retired word as it is written, what to write for it, and where it has another, ordinary meaning. */
const retired: readonly (readonly [word: RegExp, say: string, except?: RegExp])[] = [
  [
    /\bmend(s|Of|ed|ing)?\b/i,
    "fix",
    /env\/tickets\.ts|selfReflection|inverses|score-self-correct|srpo-reflection|portal|agentfly/,
  ],
  [/\b(Seat|seatOf|modelSeat|playerSeat)\b/, "Actor"],
  [/\bpractis(e|es|ed|ing)\b|\bPracticeArm\b/i, "train"],
  [/\blexicons?\b|Lexicon\b/, "vocabulary"],
  [/\bgivesAway\b/, "leaksAnswer"],
  [/\b(is|as)?[hH]eldBack\b/, "reserved"],
  [/\bsecondThoughts\b/i, "selfReflection"],
  [
    /\bServedLesson\b|\bLessonKind\b|\b(lessonsFrom|lessonsFor|fromLessons|lessonsOfSignal)\b/,
    "training example",
  ],
  [/\b(Shelf|Shelved|openShelf)\b/, "EntryStore"],
  [/\b(releaseDesk|ReleaseDesk|DeskOptions|deskOptions)\b/, "release controller"],
  [/\b(tellings|Telling|teachingsFrom|ToldVersion|toldVersion|StatedTold|versionByFlags)\b/, "with artefact"],
  [/\b(openProduction|withProduction|productionOn)\b/, "traffic store"],
  [/\barmOf\b/, "trainingArm"],
  [/\b(talkingEngine|talkingModelKeys|TalkingModel)\b/, "chat model settings"],
  [/\bAftermath\b/, "simulated outcome"],
  [/\b(addFurther|heldName|beginPractice)\b/, "auxiliary models, snapshots, training"],
  [/\b(sayShares|saidSplit|checkShares|thompsonShares)\b/, "traffic split"],
  [/\bCriticOptions\b|\b(chatCritic|scriptedCritic)\b/, "critiquer"],
  [/\bhiccup\b|nobody's news|empty purse|whoever listens/i, "the plain technical sentence"],
];

/** Prose and code that people read. Checks and their evidence keep the words with which they were run. */
const files = execFileSync(
  "git",
  ["ls-files", "src", "web/src", "docs", "examples", "scripts", "README.md"],
  {
    cwd: root,
    encoding: "utf8",
  },
)
  .split("\n")
  .filter((file) => /\.(ts|tsx|js|md)$/.test(file))
  .filter(
    (file) => !/\/check\.ts$|docs\/(decisions|methods)\.md$|scripts\/check-words\.ts$|\.data\.ts$/.test(file),
  );

const found: string[] = [];
for (const file of files) {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  for (const [at, line] of lines.entries())
    for (const [word, say, except] of retired) {
      const match = word.exec(line);
      if (match && !except?.test(file)) found.push(`${file}:${at + 1}: "${match[0]}": say ${say}`);
    }
}
if (found.length > 0) {
  console.error(found.join("\n"));
  process.exit(1);
}
console.log(`words: none of ${retired.length} retired ones in ${files.length} files`);
