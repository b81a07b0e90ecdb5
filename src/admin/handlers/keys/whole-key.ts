import { createHash } from 'node:crypto'
import type { Key } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { notFound } from '../fault.ts'

/** Somebody found a key where it should not be: whose it is, wherever that is. No answer repeats it. */
export async function findWholeKey({ store }: Pick<AdminContext, 'store'>, text: string): Promise<Key> {
  const hash = createHash('sha256').update(text).digest('base64')
  const keys = await store.keys.list(null, null)
  const found = keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
  if (found !== undefined) return found
  const hint = 'It may have been rotated or removed, or belong to another gateway. List keys: spgw keys list --all'
  throw notFound('key with this secret, which ends in', text.slice(-4), hint)
}
