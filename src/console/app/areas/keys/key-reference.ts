import type { Key } from '../outputs.ts'

/** Names a key wherever it stands. */
export function referenceTo({ id, project, environment }: Key): Record<string, unknown> {
  return { key: id, project, environment }
}
