import { isTree, listOf, type Tree } from './source.ts'

/** Portkey takes its members in camel case, too, and its first form had `mode` and `options`. What is overridden is the model's. */
export function modernForm(tree: Tree): Tree {
  const named = Object.fromEntries(Object.entries(tree).map(([name, value]) => [snakeCase(name), value]))
  const { mode, options, ...rest } = named
  const isFirstForm = Array.isArray(options) && rest.targets === undefined
  const modern: Tree = isFirstForm ? { ...rest, strategy: { mode }, targets: options } : named
  return Object.fromEntries(Object.entries(modern).map(([name, value]) => [name, modernValue(name, value)]))
}

function modernValue(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return listOf(value).map((one) => (isTree(one) ? modernForm(one) : one))
  return isTree(value) && !kept.includes(name) ? modernForm(value) : value
}

/** What stands in them is not Portkey's. */
const kept = ['override_params', 'query']

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
