import type { BatchInput } from '../../core/objects/batch-input.ts'

/** Reads an upload while it is sent up. */
export interface InputWatch {
  add(chunk: Buffer): void
  /** The whole body has arrived. */
  end(): void
  /** The call was rejected before anything of the body was sent. */
  unsent?(): void
  /**
   * The provider has accepted the upload; resolves before the client is told. Returns what the file names if it may be a batch's input;
   * null: unknown, or the file continues in another call.
   */
  taken(): Promise<BatchInput | null> | BatchInput | null
}
