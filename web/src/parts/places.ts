/** Where one can go. */
export const places: readonly (readonly [path: string, name: string])[] = [
  ["/", "Runs"],
  ["/compare", "Compare"],
  ["/methods", "Methods"],
  ["/inbox", "Inbox"],
  ["/sessions", "Sessions"],
  ["/artefacts", "Artefacts"],
  ["/versions", "Versions"],
];
