import type { BodyNote, BodyPart, MissingBodies } from '../../core/capture.ts'

export interface BodyTables {
  bodies: {
    find(id: string): FoundBodies
    /** The sealed key of bodies of that id; null: there is none. */
    key(id: string): string | null
    /**
     * In place of `replaced` (null: of none). Returns what stands under that id then: another one, where another node has set
     * it in the meantime. Throws `StoreConflict` for a value that an older machine key sealed.
     */
    setKey(id: string, sealed: string, replaced: string | null): string
  }
}

export interface FoundBodies {
  /** What was kept of a request, sealed; empty: nothing was, or not any more. */
  bodies: StoredBody[]
  /** Why there may be some nevertheless; null: there are none. */
  missing: MissingBodies | null
  /** For how long the settings of the node that captured them keep them; left out: that is this one. */
  keptMs?: number | null
}

export interface StoredBody extends BodyNote {
  part: BodyPart
  /** Of the key that sealed it. */
  keyId: string
  sealed: Uint8Array
}
