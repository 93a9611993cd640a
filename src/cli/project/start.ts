/** What a new project can begin with. */
export interface Start {
  /** What it is, after its name, in a question and in help. */
  readonly summary: string;
  /** Folder of the run that `npm start` makes. */
  readonly run: string;
  /** Scripts of its `package.json`, beside those that every project has; "start" trains. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Packages beside ours, with their versions. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Of its README: the commands, and what each file is for. */
  readonly about: string;
  /** Commands that continuous integration runs before it trains. */
  readonly checks: readonly string[];
  /** Texts by file name. */
  readonly files: Readonly<Record<string, string>>;
}
