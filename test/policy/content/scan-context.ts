import type { ContentRule } from '../../../src/core/policies/content-rules.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'
import type { ScanContext } from '../../../src/policy/content/text-scan.ts'

const base = { detector: null, pattern: null, on: ['prompt', 'answer'], reversible: false, longest: 200 } as const
export function rule(name: string, what: Partial<ContentRule>): ContentRule {
  return { ...base, action: 'redact', on: ['prompt', 'answer'], name, ...what }
}

export async function contextOf(rules: readonly ContentRule[]): Promise<ScanContext & { names: string[] }> {
  const { answer } = await readyRules([{ policy: 'p', rules }], import('../../../src/policy/content/pattern-seeker.ts'))
  const names: string[] = []
  const placeholders = new Placeholders(() => 0)
  return { rules: answer, placeholders, restorer: () => null, names, found: ({ rule: { name } }) => names.push(name) }
}

export const all = [rule('secrets', { detector: 'secrets' }), rule('personal', { detector: 'personal' })]

export const key = 'sk-proj-Abc123Def456Ghi789'
export const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK=\n-----END RSA PRIVATE KEY-----'

/** Pieces of every length, from one character on. */
export function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  for (let at = 0, next = 0; at < text.length; next++) {
    const length = lengths[next % lengths.length] ?? 1
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}
