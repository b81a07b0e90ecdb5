import { labelOf, type ReadyRule } from '../../policy/content/compile.ts'
import { plainText } from '../../policy/content/plain-text.ts'
import { findEach, type ScanContext } from '../../policy/content/text-scan.ts'
import type { ContentText } from './content-texts.ts'
import type { WorkTurn } from './scan-sliced.ts'

/** How much of both parts is searched: longer than any secret that somebody cuts in two, and short compared with the rest of the scan. */
const sightLength = 512

const partForm = /^(.*)\[(\d+)\]\.text$/

/** The end of what the parts of a message say so far, by part. */
type Sight = { part: ContentText; text: string }[]

/**
 * Finds what begins in one text part of a message and ends in a later one: providers join parts, and each part alone shows nothing. Reports
 * it, and returns the changed parts: the first gets the mask, the others lose their share. A part with a whole match at its end is left to
 * its own scan.
 */
export async function joinParts(
  texts: readonly ContentText[],
  context: ScanContext,
  turn: WorkTurn,
  at: (path: string) => void,
): Promise<ReadonlyMap<ContentText, string>> {
  const written = new Map<ContentText, string>()
  let list: string | null = null
  let sight: Sight = []
  for (const part of texts) {
    // Between two parts there may be other members, such as a type, or parts that are not text.
    const own = partForm.exec(part.path)?.[1]
    if (own === undefined) continue
    if (own !== list) sight = []
    const last = sight.at(-1)
    if (last !== undefined) {
      // There may be many parts of only a few letters.
      if (turn.isDue(2 * sightLength)) await turn.next()
      at(last.part.path)
      if (joinNext(sight, part, context, written)) sight = []
    }
    list = own
    sight = lengthen(sight, part, written.get(part) ?? part.text)
  }
  return written
}

/** True: something was redacted, so no other match can overlap it. */
function joinNext(sight: Sight, next: ContentText, context: ScanContext, written: Map<ContentText, string>): boolean {
  const before = sight.map(({ text }) => text).join('')
  const joined = before + next.text.slice(0, sightLength)
  const crossing = context.rules.flatMap((rule) => crossings(rule, before, joined))
  const found = crossing.filter(({ rule, start }) => rule.rule.action !== 'redact' || isReplaced(sight, next, start))
  for (const { rule, note } of found) context.found(rule, note)
  const redacted = found.filter(({ rule }) => rule.rule.action === 'redact')
  const [first] = redacted.toSorted((one, other) => one.start - other.start)
  if (first === undefined) return false
  const end = Math.max(...redacted.map((one) => one.end))
  const { rule, note, start } = first
  const mask = context.placeholders.mask(labelOf(rule.rule, note), joined.slice(start, end), rule.rule.reversible)
  let from = 0
  for (const { part, text } of sight) {
    const kept = text.slice(0, Math.max(0, start - from)) + (start >= from && start < from + text.length ? mask : '')
    const whole = written.get(part) ?? part.text
    if (start < from + text.length && !part.isFixed)
      written.set(part, whole.slice(0, whole.length - text.length) + kept)
    from += text.length
  }
  if (!next.isFixed) written.set(next, next.text.slice(end - before.length))
  return true
}

/** Whether any part of the match may be replaced. */
function isReplaced(sight: Sight, next: ContentText, start: number): boolean {
  let end = 0
  for (const { part, text } of sight) {
    end += text.length
    if (end > start && !part.isFixed) return true
  }
  return !next.isFixed
}

function lengthen(sight: Sight, part: ContentText, text: string): Sight {
  let left = sightLength
  const longer: Sight = []
  for (const each of [...sight, { part, text }].toReversed()) {
    if (left === 0) break
    const seen = each.text.slice(-left)
    longer.unshift({ part: each.part, text: seen })
    left -= seen.length
  }
  return longer
}

interface SharedMatch {
  rule: ReadyRule
  start: number
  end: number
  note: string
}

function crossings(rule: ReadyRule, before: string, joined: string): SharedMatch[] {
  const cut = before.length
  const across = findEach(rule, joined, 0, plainText(joined)).filter(({ start, end }) => start < cut && end > cut)
  if (across.length === 0) return []
  const alone = findEach(rule, before, 0, plainText(before))
  return across
    .filter(({ start }) => !alone.some((one) => one.end === cut && one.start <= start))
    .map(({ start, end, note }) => ({ rule, start, end, note }))
}
