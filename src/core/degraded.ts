/**
 * The parts of the gateway that can be sick while requests go on being served. `journal`: entries cannot be written, so
 * the crash promise is suspended. `store`: the database is locked, full, read-only, damaged or gone, so records wait in
 * the journal and commands that change something are refused. `thread`: fewer data-plane threads than there should be.
 * `configuration`: settings that were read again were refused, so the ones before hold.
 */
export const partNames = ['journal', 'store', 'thread', 'configuration'] as const
export type PartName = (typeof partNames)[number]

export interface DegradedPart {
  part: PartName
  /** In words, with what to do where that is known. */
  reason: string
  /** RFC 3339. */
  since: string
}
