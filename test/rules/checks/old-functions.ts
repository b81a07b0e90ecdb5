import { Visitor } from 'oxc-parser'
import type { Module, Violation } from './modules.ts'

/**
 * V8 takes a function that is written straight to a property for one that stays, and makes it old from the start: until the next full
 * collection all that it knows is kept and copied with it (docs/decisions/0010-speed-of-the-data-plane.md).
 */
export function checkOldFunctions(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    const found: Violation[] = []
    new Visitor({
      AssignmentExpression: ({ left, right, start }) => {
        const isFunction = right.type === 'ArrowFunctionExpression' || right.type === 'FunctionExpression'
        if (left.type === 'MemberExpression' && isFunction)
          found.push(`${module.path}:${module.lineOf(start)}: a function written to a property; give it to a method`)
      },
    }).visit(module.program)
    return found
  })
}
