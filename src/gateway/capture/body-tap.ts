import type { RequestEnd } from '../request/trace.ts'

/** Gets the answer of a request as it passes, to capture or cache it. */
export interface BodyTap {
  /** The head of the answer, as a flat list of names in lower case and values. */
  answerHead(headers: readonly string[]): void
  /** Bytes of the answer, as they are sent to the client. */
  answer(bytes: Buffer): void
  /** An answer that the gateway gives itself. */
  ownAnswer(headers: readonly string[], body: Buffer): void
  /** Journals what was captured, before the settled entry. A failure here does not affect the settled entry. */
  journal(end: RequestEnd): Promise<void>
}
