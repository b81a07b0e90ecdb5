import type { SettingsFile } from '../config/settings-file.ts'
import { isObject } from '../core/json/is-object.ts'
import { parseDuration } from '../core/units.ts'
import { type LeftOut, mostRetries } from './converted.ts'
import { Vendors } from './vendors.ts'

/** The other gateway's file, and what of it was not converted. */
export class Source {
  readonly left: LeftOut[] = []
  readonly vendors: Vendors
  readonly #file: SettingsFile
  readonly #skipped = new Set<string>()
  readonly #skippedOnce = new Set<string>()
  /** The variable of each credential, by what was wanted and what the file says of it. That is compared, and never written. */
  readonly #variables = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** Of a variable that is taken, the first number that may be free. */
  readonly #numbers = new Map<string, number>()

  constructor(file: SettingsFile, vendors = new Vendors()) {
    this.#file = file
    this.vendors = vendors
    for (const [, name = ''] of JSON.stringify(file.tree).matchAll(/os\.environ\/(\w+)/g)) this.reserve(name)
  }

  /** A variable that stands for a credential of the other program's already. */
  reserve(variable: string): void {
    this.#taken.add(variable)
  }

  /** The variable for a credential that is not copied: two credentials do not share one. */
  variableFor(wanted: string, secret: string): string {
    const key = JSON.stringify([wanted, secret])
    const known = this.#variables.get(key)
    if (known !== undefined) return known
    let variable = wanted
    let number = this.#numbers.get(wanted) ?? 2
    for (; this.#taken.has(variable); number++) variable = `${wanted}_${number}`
    this.#numbers.set(wanted, number)
    this.#taken.add(variable)
    this.#variables.set(key, variable)
    return variable
  }

  /** Reports what holds for several places at the first of them. */
  skipOnce(path: Path, what: string, reason: string, advice: string): void {
    const key = JSON.stringify([what, advice])
    if (this.#skippedOnce.has(key)) return
    this.#skippedOnce.add(key)
    this.skip(path, what, reason, advice)
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

/** LiteLLM's `os.environ/NAME` is `${NAME}` here; anything else stands for itself. */
export function readValue(text: string): string {
  const name = /^os\.environ\/(\w+)$/.exec(text)?.[1]
  return name === undefined ? text : `\${${name}}`
}

/** Of what was read: the other program's own `${` are escaped by then. */
export function isVariable(text: string): boolean {
  return text.startsWith('${')
}

export interface Setting {
  value: unknown
  path: Path
}

/** The first of these names that the file sets. */
export function settingIn(tree: Tree, path: Path, ...names: [string, ...string[]]): Setting {
  const name = names.find((each) => tree[each] !== undefined) ?? names[0]
  return { value: tree[name], path: [...path, name] }
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** With what `<<` names put in its place, as Python's YAML does. */
export function mergeAnchors(tree: Tree): Tree {
  const { '<<': merged, ...own } = tree
  // What an anchor names in turn is part of it.
  const below = (Array.isArray(merged) ? merged.toReversed() : [merged]).filter(isObject).map(mergeAnchors)
  const all: Tree = Object.assign({}, ...below, own)
  const mergeIn = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(mergeIn) : isObject(value) ? mergeAnchors(value) : value
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, mergeIn(value)]))
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Without the members that are null. */
export function textsIn(texts: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text === null ? [] : [[name, text]])))
}

/** A number. What stands in its place and is none, such as the name of a variable, is reported and left out. */
export function countOf({ value, path }: Setting, source: Source): number | null {
  const number = numberOf(value)
  if (number === null && value !== undefined && value !== null && value !== '')
    source.skip(path, String(path.at(-1)), 'it is not a number in the file', 'Set it by hand, if you need it.')
  return number
}

/** Of a route, or of all. More than a route can have are reported. */
export function retriesOf(setting: Setting, source: Source): number | null {
  const retries = countOf(setting, source)
  if (retries !== null && retries > mostRetries)
    source.skip(
      setting.path,
      `${retries} retries`,
      `a route has at most ${mostRetries}`,
      'Nothing to do, or add targets.',
    )
  return retries
}

/** A time limit in milliseconds, from a number of `unit` milliseconds; one that no route can have is reported and left out. */
export function timeoutOf({ value, path }: Setting, unit: number, source: Source): number | null {
  const number = countOf({ value, path }, source)
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
