import { QueryClient } from '@tanstack/react-query'

export const sessionKey = ['session'] as const

/** Data is kept fresh by push (live/), so nothing is reread on window focus. */
export const queries: QueryClient = new QueryClient({
  defaultOptions: {
    // A gateway on this machine is reached without a network, too.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // While the gateway is away, what was read is all there is.
      gcTime: 30 * 60_000,
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && !isFinal(error),
    },
  },
})

function isFinal(error: unknown): boolean {
  const status: unknown = Reflect.get(Object(error), 'status')
  return typeof status === 'number' && status < 500
}

/** Whatever may have changed with a configuration: all but records, which have their own way of being fresh. */
export function refreshConfiguration(): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => !isOfRecords(queryKey) })
}

/** After a gap in the stream: rereads all but infinite lists, which have their own stream. */
export function refreshMissed(): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => !isEndless(queryKey) })
}

function isEndless(key: readonly unknown[]): boolean {
  return Reflect.get(Object(key[1]), 'type') === 'infinite'
}

function isOfRecords(key: readonly unknown[]): boolean {
  const path = key[0]
  return key[0] === 'session' || (Array.isArray(path) && path[0] === 'requests')
}
