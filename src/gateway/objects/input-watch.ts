import type { BatchInput } from '../../core/stored-object.ts'

/** What looks at an upload beside its way up. */
export interface InputWatch {
  add(chunk: Buffer): void
  /** All of the body has come. */
  end(): void
  /** Nothing of the body goes up: the call was refused before. */
  unsent?(): void
  /**
   * The provider has taken it; has to be over before the client hears of that. What a batch's input file would name, where it may be
   * one; null: nothing is known, or it goes on.
   */
  taken(): Promise<BatchInput | null> | BatchInput | null
}
