/** The description that every row of the catalogue has. */

/** What is known about every entry of the catalogue. */
export interface About {
  /** Id in the catalogue, and name of the entry's folder; the docs link its paper. */
  readonly id: string;
  readonly family: string;
  /** One line for lists, under 100 characters. */
  readonly summary: string;
  /** Title of the paper. */
  readonly paper?: string;
  /** How it works and why that should help, in two to five sentences. */
  readonly mechanism?: string;
  /** The mathematics, as plain text, one formula per line, with every symbol defined. */
  readonly equation?: string;
  /** Source of defaults and constants: the paper, its code, or Whetstone. */
  readonly source?: string;
}
