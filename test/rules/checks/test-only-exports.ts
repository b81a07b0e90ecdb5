import type { Module } from './modules.ts'

export interface TestOnlyExport {
  /** `src/core/a.ts name`. */
  name: string
  /** The rest of its own file uses it, so that what tests call is what runs. */
  isUsed: boolean
}

/** Values that tests import and no other module does. Types are left out: they cost nothing. */
export function findTestOnlyExports(own: Module[], tests: Module[]): TestOnlyExport[] {
  const [used, tested] = [importedNames(own), importedNames(tests)]
  return own.flatMap((module) =>
    exportedValues(module)
      .filter((name) => !isImported(used, module, name) && isImported(tested, module, name))
      .map((name) => ({ name: `${module.path} ${name}`, isUsed: isUsedWithin(module, name) })),
  )
}

type Imports = ReadonlyMap<string, ReadonlySet<string>>

const everything = '*'

function importedNames(modules: Module[]): Imports {
  const found = new Map<string, Set<string>>()
  for (const { path, imports } of modules) {
    for (const { file, names, typeOnly } of imports) {
      if (file === null || file === path || typeOnly) continue
      const known = found.get(file) ?? new Set()
      for (const name of names.length === 0 ? [everything] : names) known.add(name)
      found.set(file, known)
    }
  }
  return found
}

function isImported(imports: Imports, { path }: Module, name: string): boolean {
  const names = imports.get(path)
  return names !== undefined && (names.has(everything) || names.has(name))
}

function exportedValues({ program }: Module): string[] {
  return program.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.exportKind === 'type' || node.source) return []
    const { declaration } = node
    if (declaration?.type === 'VariableDeclaration') {
      return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    }
    if (declaration?.type === 'FunctionDeclaration' || declaration?.type === 'ClassDeclaration') {
      return declaration.id ? [declaration.id.name] : []
    }
    return []
  })
}

function isUsedWithin({ text, comments }: Module, name: string): boolean {
  const code = comments.reduce(
    (rest, { start, end }) => rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end),
    text,
  )
  return (code.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1
}
