import type { ContentAction, ContentSide } from '../../core/policies/content-rules.ts'
import { inSlices, nextTurn } from '../../core/threads/slices.ts'
import { type ContentPolicy, readyRules } from './compile.ts'
import { highestIn, Placeholders } from './placeholders.ts'
import { plainText } from './plain-text.ts'
import { findEach, TextScan } from './text-scan.ts'

/** A match of a rule in a test text. */
export interface TriedMatch {
  rule: string
  action: ContentAction
  /** For example `provider key`; null: a match of the rule's pattern. */
  kind: string | null
  start: number
  end: number
}

/** How much is scanned before other work gets a turn. */
const pieceLength = 4096

/** Applies rules to a text as the gateway would. `text`: the result; null: it is blocked. */
export async function tryRules(
  policies: readonly ContentPolicy[],
  side: ContentSide,
  text: string,
): Promise<{ matches: TriedMatch[]; text: string | null }> {
  const hasPattern = policies.some(({ rules }) => rules.some(({ pattern }) => pattern !== null))
  const rules = (await readyRules(policies, hasPattern ? import('./pattern-seeker.ts') : null))[side]
  const matches: TriedMatch[] = []
  const plain = plainText(text)
  await inSlices(rules, (ready) => {
    const { name, action } = ready.rule
    for (const { start, end, note } of findEach(ready, text, 0, plain))
      matches.push({ rule: name, action, kind: note === '' ? null : note, start, end })
  })
  matches.sort((one, other) => one.start - other.start || one.end - other.end)
  const placeholders = new Placeholders(highestIn(Buffer.from(text)))
  const scan = new TextScan({ rules, placeholders, restorer: () => null, found: () => {} })
  let written = ''
  for (let at = 0; at < text.length && !scan.blocked; at += pieceLength) {
    written += scan.push(text.slice(at, at + pieceLength))
    await nextTurn()
  }
  written += scan.end()
  return { matches, text: scan.blocked ? null : written }
}
