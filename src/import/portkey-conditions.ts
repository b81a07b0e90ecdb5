import { isTree, listOf, type Source, type Tree, textOf } from './source.ts'

interface Condition {
  model: string
  /** Name of a target. */
  target: string
}

type Path = readonly (string | number)[]

/** Conditions on the model that is asked for are routes of those models; others have no counterpart. */
export function readConditions(strategy: Tree, fallback: string, path: Path, source: Source): Condition[] {
  const conditions = listOf(strategy.conditions).flatMap((condition, place) => {
    const at = [...path, 'conditions', place]
    const target = isTree(condition) ? textOf(condition.then) : null
    const models = isTree(condition) && isTree(condition.query) ? modelsIn(condition.query) : null
    if (models !== null && target !== null) return models.map((model) => ({ model, target }))
    source.leave(
      at,
      'a condition',
      'routes go by the name of the model alone',
      'Give clients other model names, or keys of other environments.',
    )
    return []
  })
  const otherwise = textOf(strategy.default)
  const seen = new Set<string>()
  const all = otherwise === null ? conditions : [...conditions, { model: fallback, target: otherwise }]
  // The first that holds counts, there as here.
  return all.filter(({ model }) => !seen.has(model) && seen.add(model))
}

/** `{"params.model": "fast"}`, with `$eq` or `$in`; null: it asks for something else. */
function modelsIn(query: Tree): string[] | null {
  const entries = Object.entries(query)
  const [first] = entries
  if (first === undefined || entries.length > 1 || first[0] !== 'params.model') return null
  const [, value] = first
  if (typeof value === 'string') return [value]
  if (!isTree(value) || Object.keys(value).length !== 1) return null
  if (typeof value.$eq === 'string') return [value.$eq]
  const list = listOf(value.$in)
  return list.length > 0 && list.every((one) => typeof one === 'string') ? list : null
}
