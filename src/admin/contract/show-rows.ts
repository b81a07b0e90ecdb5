import type { Show } from './operation.ts'

/**
 * The rows of an answer that shows as a table: the answer itself, or what lies in its lists, each with the plain fields of
 * what it lies in. Names with a blank between them are lists that follow one another.
 */
export function rowsOf(show: Show, output: unknown): readonly unknown[] {
  if (show.as !== 'table' || show.rows === undefined) return Array.isArray(output) ? output : [output]
  const path = show.rows
  return (Array.isArray(output) ? output : [output]).flatMap((one: unknown) => descend({}, one, path))
}

function descend(around: object, place: unknown, path: readonly string[]): unknown[] {
  const [step, ...rest] = path
  if (typeof place !== 'object' || place === null) return []
  if (step === undefined) return [{ ...around, ...place }]
  const list: unknown[] = step.split(' ').flatMap((name): unknown => Reflect.get(place, name) ?? [])
  const plain = Object.fromEntries(Object.entries(place).filter(([, value]) => !Array.isArray(value)))
  return list.flatMap((item) => descend({ ...around, ...plain }, item, rest))
}
