import type { RequestEnd } from '../request/trace.ts'

/** What of an exchange passes by, for whoever keeps it. */
export interface BodyTap {
  /** The head of the answer, as a flat list of names in lower case and values. */
  answerHead(headers: readonly string[]): void
  /** What goes out to the client, as it goes out. */
  answer(bytes: Buffer): void
  /** An answer that the gateway gives itself. */
  ownAnswer(headers: readonly string[], body: Buffer): void
  /** Appends what was kept; before the settled entry, which stands whatever comes of this. */
  journal(end: RequestEnd): Promise<void>
}
