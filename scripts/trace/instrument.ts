import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

export interface TracedFunction {
  /** From the root of the project, with slashes. */
  file: string
  line: number
  name: string
}

export interface Instrumented {
  /** By path from the root of the project; only files that have functions. */
  sources: Record<string, string>
  /** By the number that a function reports when it is entered. */
  functions: TracedFunction[]
}

/** The name of the global function that each instrumented function calls first. */
export const enterName = '__enterFunction'

/** Rewrites every file that matches the patterns, except some, so that each function with a body first reports its number. */
export function instrument(root: string, patterns: string[], except: readonly string[]): Instrumented {
  const instrumented: Instrumented = { sources: {}, functions: [] }
  for (const path of globSync(patterns, { cwd: root }).sort()) {
    const file = path.replaceAll('\\', '/')
    if (except.includes(file)) continue
    const source = instrumentSource(file, readFileSync(join(root, path), 'utf8'), instrumented.functions)
    if (source !== null) instrumented.sources[file] = source
  }
  return instrumented
}

interface Insertion {
  offset: number
  text: string
}

function instrumentSource(file: string, text: string, functions: TracedFunction[]): string | null {
  const { program } = parseSync(file, text)
  const names = new Map<number, string>()
  const insertions: Insertion[] = []
  const enter = (start: number, name: string) => {
    functions.push({ file, line: text.slice(0, start).split('\n').length, name: names.get(start) ?? name })
    return `${enterName}(${functions.length - 1})`
  }
  const name = (value: { start: number } | null | undefined, key: { start: number; end: number }) => {
    if (value && !names.has(value.start)) names.set(value.start, text.slice(key.start, key.end))
  }
  const addFunction = (node: { start: number; body: { start: number } | null; id?: { name: string } | null }) => {
    if (node.body === null) return
    insertions.push({ offset: node.body.start + 1, text: `${enter(node.start, node.id?.name ?? '(anonymous)')};` })
  }
  new Visitor({
    VariableDeclarator: (node) => name(node.init, node.id),
    Property: (node) => name(node.value, node.key),
    PropertyDefinition: (node) => name(node.value, node.key),
    MethodDefinition: (node) => name(node.value, node.key),
    AssignmentExpression: (node) => name(node.right, node.left),
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: (node) => {
      if (!node.expression) return addFunction(node)
      insertions.push({ offset: node.body.start, text: `(${enter(node.start, '(anonymous)')},` })
      insertions.push({ offset: node.body.end, text: ')' })
    },
  }).visit(program)
  return insertions.length === 0 ? null : insert(text, insertions)
}

/** Where two insertions share an offset, the outer function's closing bracket must stay outside: the order found is kept. */
function insert(text: string, insertions: Insertion[]): string {
  let position = 0
  let result = ''
  for (const { offset, text: inserted } of insertions.toSorted((a, b) => a.offset - b.offset)) {
    result += text.slice(position, offset) + inserted
    position = offset
  }
  return result + text.slice(position)
}
