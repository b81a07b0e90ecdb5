import { useQuery } from '@tanstack/react-query'
import { callOperation } from '../../client/admin.ts'
import { findOperation } from '../../contract/operations.ts'

/** One limit that holds for a key, and how much of it is used. */
export interface UsedLimit {
  name: string
  used: number
  limit: number
  /** null: it does not come back by itself. */
  resets_at: string | null
  unit: string | null
}

/** What holds for each key, by its id. Empty while nothing is limited, or the gateway cannot tell. */
export function useKeyUsage(): ReadonlyMap<string, readonly UsedLimit[]> {
  const { data } = useQuery({
    queryKey: [['keys', 'usage']],
    queryFn: ({ signal }) => readUsage(signal),
    enabled: findOperation('keys.usage') !== undefined,
    refetchInterval: 15_000,
  })
  return data ?? none
}

const none: ReadonlyMap<string, readonly UsedLimit[]> = new Map()

async function readUsage(signal: AbortSignal): Promise<ReadonlyMap<string, readonly UsedLimit[]>> {
  const answer = await callOperation(['keys', 'usage'], { all: true }, signal)
  return new Map((Array.isArray(answer) ? answer : []).map((row: unknown) => [keyOf(row), limitsOf(row)]))
}

function keyOf(row: unknown): string {
  const key = read(row, 'key')
  return String(read(key, 'id') ?? read(row, 'id') ?? key)
}

function limitsOf(row: unknown): UsedLimit[] {
  const limits = read(row, 'limits')
  return (Array.isArray(limits) ? limits : []).flatMap((one: unknown) => {
    const used = read(one, 'used')
    const limit = read(one, 'limit')
    if (typeof used !== 'number' || typeof limit !== 'number') return []
    const resets = read(one, 'resets_at')
    const unit = read(one, 'unit')
    return [
      {
        name: String(read(one, 'name') ?? read(one, 'kind') ?? 'limit'),
        used,
        limit,
        resets_at: typeof resets === 'string' ? resets : null,
        unit: typeof unit === 'string' ? unit : null,
      },
    ]
  })
}

function read(place: unknown, name: string): unknown {
  return Reflect.get(Object(place), name)
}
