import type { BatchInput } from '../../core/stored-object.ts'

/** What looks at an upload beside its way up. */
export interface InputWatch {
  add(chunk: Buffer): void
  /** All of the body has come. */
  end(): void
  /** The provider has taken it. What a batch's input file would name, where it may be one; null: nothing is known, or it goes on. */
  taken(): BatchInput | null
}
