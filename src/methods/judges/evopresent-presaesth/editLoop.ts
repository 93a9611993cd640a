/** What a critic says of artefacts. */
export interface ArtefactCritic<Artefact> {
  /** Names of defects; none: nothing is left to fix. */
  defects(artefact: Artefact): Promise<readonly string[]>;
  /** Whether it prefers what it is shown first. */
  prefersFirst(first: Artefact, second: Artefact): Promise<boolean>;
}

/** Settings of {@link edited}. */
export interface EditedOptions<Artefact> {
  readonly critic: ArtefactCritic<Artefact>;
  /** Fixes a defect, or tries to. @param attempt number of the edit, from 0. */
  edit(artefact: Artefact, defect: string, attempt: number): Promise<Artefact>;
  /** Most edits. */
  readonly most: number;
  /** How an edit is accepted: preferred in both orders, when it is shown first, or always. Default "both". */
  readonly accept?: "both" | "first" | "always";
}

/**
 * Drafts, criticism and edits in turn:
 *
 *     D = defects(v);   v′ = edit(v, d), d ∈ D;   v ← v′ where the critic prefers v′ to v in both orders, else the next d, in turn
 *
 * until the critic finds no defect, or `most` edits were tried. The paper's loop also ends at a score that suffices, a target that each
 * artefact would need; left out here, so that the critic's scores guide no edit. Showing a pair in both orders keeps a
 * critic that favours a position from accepting without end.
 * Paper: "Presenting a Paper is an Art: Self-Improvement Aesthetic Agents for Academic Presentations".
 */
export async function edited<Artefact>(
  draft: Artefact,
  { critic, edit, most, accept = "both" }: EditedOptions<Artefact>,
): Promise<{ readonly artefact: Artefact; readonly edits: number }> {
  let artefact = draft;
  let edits = 0;
  const takes = async (next: Artefact): Promise<boolean> => {
    if (accept === "always") return true;
    if (!(await critic.prefersFirst(next, artefact))) return false;
    return accept === "first" || !(await critic.prefersFirst(artefact, next));
  };
  let refused = 0;
  while (edits < most) {
    const defects = await critic.defects(artefact);
    if (defects.length === 0) break;
    const next = await edit(artefact, defects[refused % defects.length]!, edits++);
    const taken = await takes(next);
    if (taken) artefact = next;
    refused = taken ? 0 : refused + 1;
  }
  return { artefact, edits };
}
