import { basename } from 'node:path'
import { Visitor } from 'oxc-parser'
import type { Module, Violation } from './modules.ts'

const largestFile = 400
const largestFunction = 70
const vagueNames = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager', 'service']

export function checkFiles(modules: Module[]): Violation[] {
  return modules.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    const name = basename(path).replace(/(\.test|\.d)?\.tsx?$/, '')
    return [
      ...(lines > largestFile ? [`${path}: ${lines} lines, at most ${largestFile}`] : []),
      ...(name.split('-').some((part) => vagueNames.includes(part)) ? [`${path}: the name says nothing`] : []),
      ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : [`${path}: file names are in kebab case`]),
    ]
  })
}

export function checkFunctions(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    const found: Violation[] = []
    const measure = (node: { start: number; end: number }) => {
      const first = module.lineOf(node.start)
      const lines = module.lineOf(node.end) - first + 1
      if (lines > largestFunction)
        found.push(`${module.path}:${first}: a function of ${lines} lines, at most ${largestFunction}`)
    }
    new Visitor({
      FunctionDeclaration: measure,
      FunctionExpression: measure,
      ArrowFunctionExpression: measure,
    }).visit(module.program)
    return found
  })
}

export function checkTypes(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    const found: Violation[] = []
    new Visitor({
      TSAnyKeyword: (node) => {
        found.push(`${module.path}:${module.lineOf(node.start)}: no \`any\``)
      },
      // A test may stand in for a large type with the few members that it needs.
      TSAsExpression: ({ start, expression }) => {
        const inner = expression.type === 'ParenthesizedExpression' ? expression.expression : expression
        const isBlind = inner.type === 'TSAsExpression' && inner.typeAnnotation.type === 'TSUnknownKeyword'
        if (isBlind && !module.path.startsWith('test/'))
          found.push(`${module.path}:${module.lineOf(start)}: no \`as unknown as\``)
      },
    }).visit(module.program)
    const silenced = module.comments.filter(({ value }) => /@ts-(ignore|nocheck)/.test(value))
    return [...found, ...silenced.map(({ start }) => `${module.path}:${module.lineOf(start)}: no @ts-ignore`)]
  })
}

/** How often a name may be exported by several files: a reader who sees it in one of them must not think of another. */
export function checkTypeNames(modules: Module[], allowed: Readonly<Record<string, number>>): Violation[] {
  const places = new Map<string, string[]>()
  for (const { path, program } of modules) {
    for (const name of exportedTypes(program)) places.set(name, [...(places.get(name) ?? []), path])
  }
  return [...places]
    .filter(([name, paths]) => paths.length > Math.max(1, allowed[name] ?? 1))
    .map(([name, paths]) => `${name} is exported by ${paths.join(', ')}: give each type a name of its own`)
}

function exportedTypes(program: Module['program']): string[] {
  return program.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) return []
    const { declaration } = node
    const isType =
      declaration.type === 'TSInterfaceDeclaration' ||
      declaration.type === 'TSTypeAliasDeclaration' ||
      declaration.type === 'ClassDeclaration'
    return isType && declaration.id !== null ? [declaration.id.name] : []
  })
}
