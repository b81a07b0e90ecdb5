/** The server by which nodes share limits, as `cluster status` and `status` answer it. */
export interface ShownValkey {
  server: string
  trouble: string | null
  since: string | null
  meanwhile: string
}

export function isValkey(value: unknown): value is ShownValkey {
  if (typeof value !== 'object' || value === null) return false
  return 'server' in value && 'trouble' in value && 'since' in value && 'meanwhile' in value
}

const passes: Partial<Record<string, string>> = {
  share: 'this node lets its part of each limit pass',
  refuse: 'nothing of shared limits passes here',
  local: 'this node lets the whole of each limit pass, as every other may',
}

/** `cache:6379 cannot be used, noticed 5 s ago: it does not answer; meanwhile …`; `formatTime`: as a person wants it. */
export function formatValkey(
  { server, trouble, since, meanwhile }: ShownValkey,
  formatTime: (time: string) => string,
): string {
  if (trouble === null) return server
  const noticed = since === null ? '' : `, noticed ${formatTime(since)}`
  return `${server} cannot be used${noticed}: ${trouble}; meanwhile ${passes[meanwhile] ?? meanwhile}`
}
