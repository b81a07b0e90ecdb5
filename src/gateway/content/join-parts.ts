import { labelOf, type ReadyRule } from '../../policy/content/compile.ts'
import type { ScanContext } from '../../policy/content/text-scan.ts'
import type { ContentText } from './content-texts.ts'
import type { WorkTurn } from './scan-sliced.ts'

/** So much of both parts is looked at: longer than any secret that somebody cuts in two, and little beside what is scanned anyway. */
const sightLength = 512

const partForm = /^(.*)\[(\d+)\]\.text$/

/**
 * What begins in one text part of a message and ends in the next: providers join parts, and each alone shows nothing. Reports it,
 * and returns what becomes of the parts: the first gets the mask, the second loses its share. A part that has a whole match at its end is
 * left to its own scan.
 */
export async function joinParts(
  texts: readonly ContentText[],
  context: ScanContext,
  turn: WorkTurn,
  at: (path: string) => void,
): Promise<ReadonlyMap<ContentText, string>> {
  const written = new Map<ContentText, string>()
  // Between two of them stands what else a part has, such as its type.
  const parts = texts.filter(({ path }) => partForm.test(path))
  for (const [index, next] of parts.entries()) {
    const last = parts[index - 1]
    if (last === undefined || !follows(last, next)) continue
    // There may be many parts, each of a few letters.
    if (turn.isDue(2 * sightLength)) await turn.next()
    at(last.path)
    const left = written.get(last) ?? last.text
    const joint = joinTwo(left, next.text, context)
    if (joint === null) continue
    if (!last.isFixed) written.set(last, joint.left)
    if (!next.isFixed) written.set(next, joint.right)
  }
  return written
}

function follows(last: ContentText, next: ContentText): boolean {
  const [, list, place] = partForm.exec(last.path) ?? []
  return list !== undefined && next.path === `${list}[${Number(place) + 1}].text`
}

/** Null: nothing crosses from one to the other, or it is no more than reported. */
function joinTwo(left: string, right: string, context: ScanContext): { left: string; right: string } | null {
  const before = left.slice(-sightLength)
  const joined = before + right.slice(0, sightLength)
  const found = context.rules.flatMap((rule) => crossings(rule, before, joined))
  for (const { rule, note } of found) context.found(rule, note)
  const redacted = found.filter(({ rule }) => rule.rule.action === 'redact')
  const [first] = redacted.toSorted((one, other) => one.start - other.start)
  if (first === undefined) return null
  const end = Math.max(...redacted.map((one) => one.end))
  const { rule, note, start } = first
  const mask = context.placeholders.mask(labelOf(rule.rule, note), joined.slice(start, end), rule.rule.reversible)
  return {
    left: left.slice(0, left.length - before.length + start) + mask,
    right: right.slice(end - before.length),
  }
}

interface SharedMatch {
  rule: ReadyRule
  start: number
  end: number
  note: string
}

function crossings(rule: ReadyRule, before: string, joined: string): SharedMatch[] {
  const cut = before.length
  const across = rule.seeker.find(joined).filter(({ start, end }) => start < cut && end > cut)
  if (across.length === 0) return []
  const alone = rule.seeker.find(before)
  return across
    .filter(({ start }) => !alone.some((one) => one.end === cut && one.start <= start))
    .map(({ start, end, note }) => ({ rule, start, end, note }))
}
