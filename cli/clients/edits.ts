import { type Document, isCollection, parseDocument } from 'yaml'
import { isObject } from '../../src/core/json/is-object.ts'
import { CommandFault } from '../fault.ts'

/** Turns what stands in a file (null: no file) into what is to stand there; what it does not set stays as it is. */
export type FileEdit = (text: string | null, path: string) => string

type Json = { [name: string]: unknown }

/** Sets values at paths like `env.ANTHROPIC_BASE_URL`, each whole; null takes one away. */
export function setJson(values: Readonly<Record<string, unknown>>): FileEdit {
  return (text, path) => {
    const root = parseJson(text, path)
    for (const [place, value] of Object.entries(values)) setAt(root, place.split('.'), value)
    return `${JSON.stringify(root, null, indentOf(text))}\n`
  }
}

function parseJson(text: string | null, path: string): Json {
  if (text === null || text.trim() === '') return {}
  try {
    const root: unknown = JSON.parse(text)
    if (isObject(root)) return root
  } catch {
    // Said below, as what is no object.
  }
  throw unreadable(path, 'JSON')
}

function unreadable(path: string, form: string): CommandFault {
  return new CommandFault(
    `${path} is not plain ${form}, so it was not changed.`,
    'Run the command without --write and add what it prints by hand.',
  )
}

function setAt(tree: Json, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    if (value === null) delete tree[name]
    else tree[name] = value
    return
  }
  const inner = tree[name]
  if (isObject(inner)) return setAt(inner, rest, value)
  if (value === null) return
  const fresh: Json = {}
  tree[name] = fresh
  setAt(fresh, rest, value)
}

function indentOf(text: string | null): string {
  return /^\{\r?\n([ \t]+)/.exec(text ?? '')?.[1] ?? '  '
}

/** `NAME=value` lines of a file that shells and programs read alike. */
export function setVariables(values: Readonly<Record<string, string>>): FileEdit {
  return (text) => {
    let lines = linesOf(text)
    for (const [name, value] of Object.entries(values)) {
      const form = new RegExp(`^\\s*(export\\s+)?${name}\\s*=`)
      const place = lines.findIndex((line) => form.test(line))
      const prefix = /^\s*export\s+/.exec(lines[place] ?? '')?.[0] ?? ''
      const line = `${prefix}${name}=${value}`
      lines = place < 0 ? [...lines, line] : lines.with(place, line)
    }
    return joinLines(lines)
  }
}

/** Sets values at the top of a YAML document and keeps its comments. */
export function setYaml(values: Readonly<Record<string, unknown>>): FileEdit {
  return (text, path) => {
    const document = parseYaml(text, path)
    for (const [name, value] of Object.entries(values)) document.set(name, value)
    return String(document)
  }
}

/** Replaces the entries of a YAML list that `isOurs`, and keeps all others. `place`: where the list is; empty: the document itself. */
export function setYamlEntries(
  place: readonly string[],
  entries: readonly object[],
  isOurs: (entry: Json) => boolean,
  /** Set at the top of a file that has none of them. */
  head: Readonly<Record<string, unknown>> = {},
): FileEdit {
  return (text, path) => {
    const document = parseYaml(text, path)
    for (const [name, value] of Object.entries(head)) if (!document.has(name)) document.set(name, value)
    const before: unknown = place.length === 0 ? document.toJS() : document.getIn(place)
    const list = isCollection(before) ? before.toJS(document) : before
    const kept = Array.isArray(list) ? list.filter((entry) => !(isObject(entry) && isOurs(entry))) : []
    if (place.length === 0) document.contents = document.createNode([...kept, ...entries])
    else document.setIn(place, document.createNode([...kept, ...entries]))
    return String(document)
  }
}

function parseYaml(text: string | null, path: string): Document {
  const document = parseDocument(text ?? '')
  if (document.errors.length > 0) throw unreadable(path, 'YAML')
  return document
}

export function setText(text: string): FileEdit {
  return () => text
}

export interface TomlChange {
  /** Above the first table. */
  top: Readonly<Record<string, string>>
  /** Replaced whole where it is there. */
  table: { name: string; values: Readonly<Record<string, string>> }
}

/** Line by line, since nothing else keeps a person's comments and order. All values are text. */
export function setToml({ top, table }: TomlChange): FileEdit {
  return (text) => {
    let lines = linesOf(text)
    for (const [name, value] of Object.entries(top)) lines = setTop(lines, name, value)
    return joinLines(replaceTable(lines, table))
  }
}

const isTable = (line: string) => /^\s*\[/.test(line)

function setTop(lines: readonly string[], name: string, value: string): string[] {
  const tables = lines.findIndex(isTable)
  const end = tables < 0 ? lines.length : tables
  const place = lines.findIndex((line, index) => index < end && new RegExp(`^\\s*${name}\\s*=`).test(line))
  const line = `${name} = ${JSON.stringify(value)}`
  return place < 0 ? [line, ...lines] : lines.with(place, line)
}

function replaceTable(lines: readonly string[], { name, values }: TomlChange['table']): string[] {
  const head = `[${name}]`
  const block = [head, ...Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)]
  const start = lines.findIndex((line) => line.trim() === head)
  if (start < 0) return [...lines, ...(lines.at(-1)?.trim() ? [''] : []), ...block]
  const length = lines.slice(start + 1).findIndex(isTable)
  const end = length < 0 ? lines.length : start + 1 + length
  // The blank line before the next table is that one's.
  const gap = length < 0 ? [] : ['']
  return [...lines.slice(0, start), ...block, ...gap, ...lines.slice(end)]
}

function linesOf(text: string | null): string[] {
  const lines = (text ?? '').split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}
