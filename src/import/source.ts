import type { SettingsFile } from '../config/settings-file.ts'
import { parseDuration } from '../core/units.ts'
import type { LeftOut } from './converted.ts'
import { Vendors } from './vendors.ts'

/** The other gateway's file, and what of it was not converted. */
export class Source {
  readonly left: LeftOut[] = []
  readonly vendors: Vendors
  readonly #file: SettingsFile
  readonly #skipped = new Set<string>()
  /** By variable, the keys in clear text that stand for it. They are compared, and never written. */
  readonly #secrets = new Map<string, string[]>()

  constructor(file: SettingsFile, vendors = new Vendors()) {
    this.#file = file
    this.vendors = vendors
  }

  /** The variable for a key that the file has in clear text: two keys do not share one. */
  variableFor(wanted: string, secret: string): string {
    const seen = this.#secrets.get(wanted) ?? []
    if (!seen.includes(secret)) this.#secrets.set(wanted, [...seen, secret])
    const place = (this.#secrets.get(wanted) ?? []).indexOf(secret)
    return place === 0 ? wanted : `${wanted}_${place + 1}`
  }

  /** Reports what holds for several places at the first of them. */
  skipOnce(path: Path, what: string, reason: string, advice: string): void {
    if (!this.left.some((one) => one.what === what && one.advice === advice)) this.skip(path, what, reason, advice)
  }

  skip(path: Path, what: string, reason: string, advice: string): void {
    // A setting that several routes share is read several times.
    const key = JSON.stringify([path, what])
    if (this.#skipped.has(key)) return
    this.#skipped.add(key)
    this.left.push({ place: this.#file.place(path.map(String)), what, reason, advice })
  }
}

export type Path = readonly (string | number)[]

export type Tree = Record<string, unknown>

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** LiteLLM's `os.environ/NAME` is `${NAME}` here; anything else stands for itself. */
export function readValue(text: string): string {
  const name = /^os\.environ\/(\w+)$/.exec(text)?.[1]
  return name === undefined ? text : `\${${name}}`
}

/** Of what was read: the other program's own `${` are escaped by then. */
export function isVariable(text: string): boolean {
  return text.startsWith('${')
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** With what `<<` names put in its place, as Python's YAML does. */
export function mergeAnchors(tree: Tree): Tree {
  const { '<<': merged, ...own } = tree
  const below = (Array.isArray(merged) ? merged.toReversed() : [merged]).filter(isTree)
  const all: Tree = Object.assign({}, ...below, own)
  const mergeIn = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(mergeIn) : isTree(value) ? mergeAnchors(value) : value
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, mergeIn(value)]))
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Without the members that are null. */
export function textsIn(texts: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text === null ? [] : [[name, text]])))
}

/** A time limit in milliseconds, from a number of `unit` milliseconds; one that no route can have is reported and left out. */
export function timeoutOf(value: unknown, unit: number, path: Path, source: Source): number | null {
  const number = numberOf(value)
  if (number === null) return null
  const milliseconds = Math.round(number * unit)
  if (milliseconds > 0 && parseDuration(`${milliseconds}ms`) !== null) return milliseconds
  source.skip(path, `a time limit of ${number}`, 'a route cannot have it', 'Set one on the route, if you need it.')
  return null
}

export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}
