/** The flag of an option that is named as in code: `--reply-tokens` for `replyTokens`. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
