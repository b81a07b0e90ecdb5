import { readFileSync } from 'node:fs'
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { errorCode } from '../core/caught.ts'
import { isObject } from '../core/json/is-object.ts'
import { findDeepNesting } from './nesting.ts'
import { type SettingProblem, SettingsRefused } from './settings-refused.ts'

export type SettingTree = { [name: string]: unknown }

export interface SettingsFile {
  tree: SettingTree
  /** `config.yaml:3:5` of the setting, or of the nearest section above it that the file has. */
  place(path: readonly string[]): string
}

/** Reads a settings file; null when there is none. Throws `SettingsRefused` when it cannot be read or is not YAML. */
export function readSettingsFile(path: string): SettingsFile | null {
  const text = readText(path)
  return text === null ? null : parseSettingsFile(text, path)
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error) ?? 'unknown'
    if (code === 'ENOENT') return null
    throw new SettingsRefused([{ place: path, message: `cannot be read (${code})` }])
  }
}

/** Behind the first slip, nearly everything is told as a further one. */
const mostFaults = 3

/**
 * The library quotes what it did not expect, which may be a secret: `Not a YAML token: …`, or `Unresolved tag: !…` of a
 * password that begins with an exclamation mark.
 */
function withoutValue({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here; a file has one'
  if (code === 'TAG_RESOLVE_FAILED') return 'Unknown tag: a value that begins with ! needs quotes'
  if (/call stack/.test(message)) return 'nested too deeply'
  // Not the colon of `Missing , or : between flow map items`.
  return message.replace(
    /(?<! ): .*|(?<=^Unknown directive|^Unsupported YAML version|^Invalid escape sequence) .*/s,
    '',
  )
}

function placeIn(text: string, offset: number, path: string): string {
  const before = text.slice(0, offset).split('\n')
  return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

/** `path` names the file in what is wrong with it; `expected`: what it says where it is a list, or a text. */
export function parseSettingsFile(
  text: string,
  path: string,
  expected = 'expected settings, like gateway: and below it listen: …',
): SettingsFile {
  const lines = new LineCounter()
  const deep = findDeepNesting(text)
  if (deep !== null) throw new SettingsRefused([{ place: placeIn(text, deep, path), message: 'nested too deeply' }])
  // `logLevel`: else a mapping that is a name is told on standard error, with all that is in it.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const faults: SettingProblem[] = [...document.errors, ...document.warnings].slice(0, mostFaults).map((error) => ({
    place: placeAt(error.pos[0]),
    message: withoutValue(error),
  }))
  if (faults.length > 0) throw new SettingsRefused(faults)
  const refuse = (offsets: number[], message: string) => {
    const problems = offsets.slice(0, mostFaults).map((offset) => ({ place: placeAt(offset), message }))
    if (problems.length > 0) throw new SettingsRefused(problems)
  }
  refuse(findDuplicateKeys(document), 'Map keys must be unique')
  refuse(findLostAliases(document), 'Unknown alias: a value that begins with * needs quotes')
  if (!isMap(document.contents) && !isEmpty(document.contents)) {
    throw new SettingsRefused([{ place: placeAt(0), message: expected }])
  }
  return { tree: toTree(document, path), place: (path) => placeAt(offsetOf(document, path)) }
}

/** Of comments only, or of the mark that begins a document. */
function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.value === null)
}

function toTree(document: Document.Parsed, path: string): SettingTree {
  try {
    const tree = document.toJS({ maxAliasCount: 100 }) ?? {}
    // Throws for an alias within what it stands for, which would have no end.
    JSON.stringify(tree)
    return dropUnset(tree)
  } catch {
    // Thrown by the library's own guard, too, against aliases that multiply themselves.
    throw new SettingsRefused([{ place: path, message: 'too many aliases' }])
  }
}

/** A section or setting with nothing behind its colon is one that is not set. */
function dropUnset(tree: SettingTree): SettingTree {
  const kept = Object.entries(tree).filter(([, value]) => value !== null)
  return Object.fromEntries(kept.map(([name, value]) => [name, isObject(value) ? dropUnset(value) : value]))
}

const indexed = new WeakMap<YAMLMap, Map<string, Pair>>()

/** By name, for maps of thousands of names whose places are all asked for. Of a name that stands twice, the first. */
function pairsOf(map: YAMLMap): Map<string, Pair> {
  const known = indexed.get(map)
  if (known !== undefined) return known
  const pairs = new Map<string, Pair>()
  for (const pair of map.items as Pair[])
    if (isScalar(pair.key) && !pairs.has(String(pair.key.value))) pairs.set(String(pair.key.value), pair)
  indexed.set(map, pairs)
  return pairs
}

function offsetOf(document: Document.Parsed, path: readonly string[]): number {
  let node: unknown = document.contents
  let offset = 0
  for (const name of path) {
    if (isSeq(node)) {
      node = node.items[Number(name)]
      if (!isNode(node)) break
      offset = node.range?.[0] ?? offset
      continue
    }
    const pair = isMap(node) ? pairsOf(node).get(name) : undefined
    if (pair === undefined) break
    if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset
    node = pair.value
  }
  return offset
}

/** Where an alias stands for nothing, as offsets: mostly a value that begins with a star, like `*.example.com`. */
function findLostAliases(document: Document): number[] {
  const anchors = new Set<string>()
  const found: number[] = []
  const note = (_key: unknown, { anchor }: Node & { anchor?: string }) => {
    if (anchor) anchors.add(anchor)
  }
  visit(document, {
    Map: note,
    Seq: note,
    Scalar: note,
    Alias(_key, { source, range }) {
      if (!anchors.has(source)) found.push(range?.[0] ?? 0)
    },
  })
  return found
}

/**
 * Where a mapping names a key for the second time, as offsets. The library's own check compares each key with all others
 * of its mapping: 16,000 lines of a hostile file kept a thread for 11 s.
 */
function findDuplicateKeys(document: Document): number[] {
  const found: number[] = []
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items as Pair[]) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) found.push(key.range?.[0] ?? 0)
        seen.add(key.value)
      }
    },
  })
  return found.sort((a, b) => a - b)
}
