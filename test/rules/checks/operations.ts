import { type Expression, type Node, Visitor } from 'oxc-parser'
import type { Module, Violation } from './modules.ts'

const comparisons = ['===', '!==', '==', '!=']
const lookUps = ['has', 'get', 'includes', 'indexOf', 'test', 'exec', 'match', 'startsWith', 'endsWith']

/** Where code asks which operation an endpoint has, instead of a fact that the endpoint's row declares. */
export function checkOperationNames(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    const found: Violation[] = []
    const report = (node: Node) =>
      found.push(`${module.path}:${module.lineOf(node.start)}: declare it on the endpoint's row instead`)
    new Visitor({
      BinaryExpression(node) {
        const sides = [node.left, node.right]
        if (comparisons.includes(node.operator) && sides.some(isOperation) && !sides.some(isNothing)) report(node)
      },
      SwitchStatement(node) {
        if (isOperation(node.discriminant)) report(node)
      },
      MemberExpression(node) {
        if (node.computed && isOperation(node.property)) report(node)
      },
      CallExpression(node) {
        const { callee } = node
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
        if (!lookUps.includes(callee.property.name) || isDeclaredByKind(callee.object)) return
        if (isOperation(callee.object) || node.arguments.some(isOperation)) report(node)
      },
    }).visit(module.program)
    return found
  })
}

/** `operation`, `endpoint.operation`, `match?.endpoint.operation ?? ''`. */
function isOperation(node: Node): boolean {
  switch (node.type) {
    case 'Identifier':
      return node.name === 'operation'
    case 'MemberExpression':
      return !node.computed && node.property.type === 'Identifier' && node.property.name === 'operation'
    case 'ChainExpression':
    case 'ParenthesizedExpression':
    case 'TSNonNullExpression':
      return isOperation(node.expression)
    case 'LogicalExpression':
      return isOperation(node.left)
    default:
      return false
  }
}

function isNothing(node: Node): boolean {
  return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined')
}

/** A provider kind lists the operations that it serves. */
function isDeclaredByKind(node: Expression): boolean {
  const name = node.type === 'ChainExpression' ? node.expression : node
  return name.type === 'MemberExpression' && name.property.type === 'Identifier' && name.property.name === 'serves'
}
