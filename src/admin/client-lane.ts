/** What a lane answers. */
export interface LaneAnswer {
  status: number
  /** It comes from a gateway. */
  isGateway: boolean
  /** null: it is no JSON. */
  body: unknown
}

const limitMs = 5000

/** Asks a lane with a key, as a client does. null: it cannot be reached. */
export async function askLane(url: string, key: string): Promise<LaneAnswer | null> {
  const headers = { authorization: `Bearer ${key}` }
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(limitMs), redirect: 'manual' })
    const body: unknown = await answer.json().catch(() => null)
    return { status: answer.status, isGateway: answer.headers.has('x-sp-request-id'), body }
  } catch {
    return null
  }
}
