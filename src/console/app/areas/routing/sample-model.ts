import { matchesPattern } from '../lane-models.ts'
import type { Provider, Route } from '../outputs.ts'

/** A model that a client could ask for on this route: of a pattern, one that a target's provider has. */
export function sampleModel(
  { model, targets }: Pick<Route, 'model' | 'targets'>,
  providers: readonly Provider[],
): string {
  if (!model.includes('*')) return model
  const names = targets.flatMap(
    ({ provider }) => providers.find(({ name }) => name === provider)?.models.map(({ name }) => name) ?? [],
  )
  return names.find((name) => matchesPattern(model, name)) ?? model.replace('*', 'x')
}
