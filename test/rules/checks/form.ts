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
    }).visit(module.program)
    const silenced = module.comments.filter(({ value }) => /@ts-(ignore|nocheck)/.test(value))
    return [...found, ...silenced.map(({ start }) => `${module.path}:${module.lineOf(start)}: no @ts-ignore`)]
  })
}
