/** The server by which nodes share limits, as `cluster status` and `status` answer it. */
export interface ShownValkey {
  server: string
  trouble: string | null
  since: string | null
  meanwhile: string
  /** An older gateway does not tell. */
  opening_until?: string | null
}

export function isValkey(value: unknown): value is ShownValkey {
  if (typeof value !== 'object' || value === null) return false
  return 'server' in value && 'trouble' in value && 'since' in value && 'meanwhile' in value
}

const passes: Partial<Record<string, string>> = {
  share: 'this node lets its part of each limit pass (nothing in the first 73 s after a start)',
  refuse: 'nothing of shared limits passes here',
  local: 'this node lets the whole of each limit pass, as every other may',
}

/** `cache:6379 cannot be used, noticed 5 s ago: it does not answer; meanwhile …`; `formatTime`: as a person wants it. */
export function formatValkey(
  { server, trouble, since, meanwhile, opening_until: until }: ShownValkey,
  formatTime: (time: string) => string,
): string {
  if (trouble === null) return [server, ...describeOpening(until, formatTime)].join('; ')
  const noticed = since === null ? '' : `, noticed ${formatTime(since)}`
  return `${server} cannot be used${noticed}: ${trouble}; meanwhile ${passes[meanwhile] ?? meanwhile}`
}

/** Nothing is wrong, and it ends by itself; but who is refused asks why. Nothing: grants are given. */
export function describeOpening(until: string | null | undefined, formatTime: (time: string) => string): string[] {
  if (until === null || until === undefined) return []
  return [
    `not all nodes have said yet what they use of shared limits: requests that need more than a node holds are refused (rate_limited). This ends by itself, at the latest ${formatTime(until)}`,
  ]
}
