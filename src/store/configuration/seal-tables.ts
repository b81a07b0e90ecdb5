import type { Reseal, SealedValue } from '../../sealing/reseal.ts'

export interface SealTables {
  seal: {
    /** Every sealed credential, and every secret of an authenticator, with its identity: what has no other copy. */
    sealed(): SealedValue[]
    /** These, and what the gateway has sealed for itself: all that a rotation has to re-seal. */
    everything(): SealedValue[]
    /** Throws `StoreConflict` when what is sealed is no longer what is `expected`. */
    replace(expected: SealedValue[], changes: Reseal['changes']): void
    /** In place of headers that an earlier version stored in clear. */
    sealHeaders(revisions: { providerId: string; number: number; headers: Record<string, string> }[]): void
    /** When this returns, everything committed is on the disk and survives a power cut. */
    makeDurable(): void
    /** A known text sealed at init, by which a wrong machine key is recognised at start. */
    witness(): string | null
    setWitness(sealed: string): void
    /** The public half of the recovery key, sealed so that nobody puts another in its place; null: none was made. */
    recovery(): string | null
    setRecovery(sealed: string): void
  }
}
