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

/**
 * V8 gives every object that is written with an accessor a shape of its own, since the accessor's function belongs to the shape. Shapes
 * are old from the start, and the function keeps all that it knows: of each request 11 KB stayed until the next full collection.
 */
export function checkAccessors(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    const found: Violation[] = []
    new Visitor({
      ObjectExpression: ({ properties }) => {
        for (const each of properties)
          if (each.type === 'Property' && each.kind !== 'init')
            found.push(
              `${module.path}:${module.lineOf(each.start)}: an accessor in an object literal; write a method or a class`,
            )
      },
    }).visit(module.program)
    return found
  })
}
