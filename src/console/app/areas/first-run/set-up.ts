import type { Key, Provider, Route, ShownRequest } from '../outputs.ts'

export type StepName = 'provider' | 'route' | 'key' | 'request' | 'see'

/** What the gateway has by now. */
export interface FoundSetUp {
  providers: readonly Provider[]
  routes: readonly Route[]
  keys: readonly Pick<Key, 'state'>[]
  /** The latest first. */
  requests: readonly Pick<ShownRequest, 'id'>[]
}

export interface SetUp {
  /** Signed in is the first of them, and done. */
  done: Record<StepName, boolean>
  /** What comes next; null: all is done. */
  next: StepName | null
  providers: readonly Provider[]
  routes: readonly Route[]
  /** The first request that was seen. */
  requestId: string | null
}

const order: StepName[] = ['provider', 'route', 'key', 'request', 'see']

/** The progress of the setup. */
export function describeSetUp({ providers, routes, keys, requests }: FoundSetUp): SetUp {
  const requestId = requests[0]?.id ?? null
  const seen = requestId !== null
  const done = {
    provider: providers.length > 0,
    route: routes.length > 0,
    // Whoever sent a request had one.
    key: seen || keys.some(({ state }) => state === 'active'),
    request: seen,
    see: seen,
  }
  return { done, next: order.find((step) => !done[step]) ?? null, providers, routes, requestId }
}

/** The model of the lines to copy: one that clients can name as it stands. */
export function modelToTry(routes: readonly Pick<Route, 'model'>[]): string {
  const models = routes.map(({ model }) => model)
  return models.find((model) => !model.includes('*')) ?? models[0] ?? 'gpt-4o-mini'
}

/** Models suggested first, where the provider has them. */
const favourites = [/^demo$/, /^gpt-4o-mini$/, /^gpt-.*mini/, /^claude-.*haiku/, /^claude-/, /^gemini-.*flash/, /^gpt-/]

/** Of the models that a provider has. */
export function favouriteOf(names: readonly string[]): string {
  const favourite = favourites.map((form) => names.find((name) => form.test(name))).find((name) => name !== undefined)
  return favourite ?? names[0] ?? ''
}
