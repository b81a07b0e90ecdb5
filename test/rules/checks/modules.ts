import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Comment, type Program, parseSync, Visitor } from 'oxc-parser'

export const root = join(import.meta.dirname, '../../..')

export interface Import {
  /** As written. */
  specifier: string
  /** The file meant, from the root of the project; null for a package or a part of Node. */
  file: string | null
  line: number
  typeOnly: boolean
  /** Imported names; empty for `*`, a default or a dynamic import. */
  names: string[]
}

export interface Module {
  /** From the root of the project, with slashes. */
  path: string
  text: string
  program: Program
  comments: Comment[]
  imports: Import[]
  lineOf(offset: number): number
}

/** A module that breaks a rule: `src/core/a.ts:3: …`. */
export type Violation = string

/** Every module below the given folders, parsed. Biome's own checks see type imports less well, and TypeScript 7 has no API. */
export function readModules(...folders: string[]): Module[] {
  return globSync(
    folders.flatMap((folder) => [`${folder}/**/*.ts`, `${folder}/**/*.tsx`]),
    { cwd: root },
  )
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map(readModule)
}

/** Nobody changes what was parsed: one module for all rules that a process runs. */
const read = new Map<string, Module>()

function readModule(path: string): Module {
  const known = read.get(path)
  if (known !== undefined) return known
  const module = parseModule(path, readFileSync(join(root, path), 'utf8'))
  read.set(path, module)
  return module
}

export function parseModule(path: string, text: string): Module {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const module: Module = { path, text, program, comments, imports: [], lineOf }
  collectImports(module)
  return module
}

function collectImports(module: Module): void {
  const add = (specifier: string, offset: number, typeOnly: boolean, names: string[] = []) => {
    const file = specifier.startsWith('.') ? posix.join(posix.dirname(module.path), specifier) : null
    module.imports.push({ specifier, file, line: module.lineOf(offset), typeOnly, names })
  }
  new Visitor({
    ImportDeclaration(node) {
      const named = node.specifiers.filter((one) => one.type === 'ImportSpecifier')
      const types = named.filter((one) => one.importKind === 'type')
      const allTypes = node.specifiers.length > 0 && types.length === node.specifiers.length
      const values = named.filter((one) => one.importKind !== 'type').map((one) => nameOf(one.imported))
      const whole = values.length === 0 || named.length < node.specifiers.length
      add(node.source.value, node.start, node.importKind === 'type' || allTypes, whole ? [] : values)
    },
    ExportNamedDeclaration(node) {
      if (node.source) add(node.source.value, node.start, node.exportKind === 'type')
    },
    ExportAllDeclaration(node) {
      add(node.source.value, node.start, node.exportKind === 'type')
    },
    ImportExpression(node) {
      if (node.source.type === 'Literal') add(String(node.source.value), node.start, false)
    },
    TSImportType(node) {
      add(node.source.value, node.start, true)
    },
  }).visit(module.program)
}

function nameOf(name: { type: string; name?: string; value?: unknown }): string {
  return name.name ?? String(name.value)
}
