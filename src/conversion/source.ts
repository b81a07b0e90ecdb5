import type { SettingsFile } from '../config/settings-file.ts'
import type { LeftOut } from './conversion.ts'

/** A place in the other program's file, and what of it is left out. */
export class Source {
  readonly left: LeftOut[] = []
  readonly #file: SettingsFile

  constructor(file: SettingsFile) {
    this.#file = file
  }

  leave(path: readonly (string | number)[], what: string, reason: string, advice: string): void {
    const place = this.#file.place(path.map(String))
    // What several routes share is met several times.
    if (!this.left.some((one) => one.place === place && one.what === what))
      this.left.push({ place, what, reason, advice })
  }
}

export type Tree = Record<string, unknown>

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}
