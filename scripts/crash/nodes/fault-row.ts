import type { NodeScene } from './node-scene.ts'

export interface RowOptions {
  /** How often, or for how many seconds: as the row says. */
  times: number
  /** Another version of the executable; null: none is at hand. */
  other: string | null
  /** How far it is. */
  report(line: string): void
}

/** A row of the fault table: what is done to nodes under load, besides which everything must come out right. */
export interface FaultRow {
  name: string
  fault: string
  /** Of `times`: what it counts, and how much it is unless somebody says otherwise. */
  counts: string
  usual: number
  /** Which nodes there are at first; absent: three. */
  names?: readonly string[]
  /** The nodes begin as ones of the other version, where that is at hand. */
  foundedByOther?: boolean
  /** What it saw, for the table. Whatever is wrong goes to `scene.problem`. */
  run(scene: NodeScene, options: RowOptions): Promise<Record<string, string | number>>
}
