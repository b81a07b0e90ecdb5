import { RE2JS } from 're2js'
import type { Detection } from '../detectors/detector.ts'
import { readPattern } from './pattern-parts.ts'
import type { Seeker } from './seeker.ts'

/** What a pattern finds has the rule's name. */
const note = ''
/** Of matches that are longer than they may be: each costs a search more. */
const mostRetries = 20
/** Then a pattern compiles within 100 ms, and looks through a kilobyte within 10 ms at worst. */
const mostWeight = 1000

/** `$`, `\z`, `\b` and `\B` look at what follows. */
const endSensitive = /\$|\\[zbB]/

/** `\Q` quotes up to `\E`, or to the end. */
const isQuoteOpen = (pattern: string) => /\\Q(?:(?!\\E).)*$/s.test(pattern)

/** null: the pattern is fine; else what is wrong, as half a sentence. */
export function wrongPattern(pattern: string): string | null {
  try {
    // Before it is compiled, which may take seconds.
    const { partial, weight } = readPattern(pattern)
    if (weight > mostWeight)
      return `with its repetitions written out it has ${weight} parts, and ${mostWeight} are the most`
    const compiled = RE2JS.compile(pattern)
    if (compiled.matcher('').find()) return 'it matches the empty text, so that it would match everywhere'
    RE2JS.compile(`(?:${partial})\\z`)
    return null
  } catch (error) {
    return describeWrong(pattern, error instanceof Error ? error.message : String(error))
  }
}

function describeWrong(pattern: string, message: string): string {
  if (/\(\?<?[=!]/.test(pattern)) return 'RE2 syntax has no look-ahead and no look-behind, so that every search is fast'
  if (/\\[1-9]/.test(pattern)) return 'RE2 syntax has no back references, so that every search is fast'
  return message.replace(/^error parsing regexp: /, '')
}

/** Matches of a pattern up to a length, on an engine whose time is linear in the text, whatever the pattern. */
export function patternSeeker(pattern: string, longest: number): Seeker {
  const form = RE2JS.compile(pattern)
  const { partial, literal } = readPattern(pattern)
  const growing = RE2JS.compile(`(?:${partial})\\z`)
  let beforeOneMore: RE2JS | null = null

  function matchAt(text: string, from: number): { start: number; end: number } | null {
    const matcher = form.matcher(text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null
  }

  /** Whether a match that ends where a text was cut ends there in the text itself: a cut is neither the end of a text nor of a word. */
  function endsAt(text: string, { start, end }: { start: number; end: number }): boolean {
    if (!endSensitive.test(pattern)) return true
    beforeOneMore ??= RE2JS.compile(`(?:${pattern}${isQuoteOpen(pattern) ? '\\E' : ''})(?s:.)\\z`)
    const matcher = beforeOneMore.matcher(text.slice(0, end + 1))
    return matcher.find(start) && matcher.start() === start
  }

  /** With no more than it may have. Rather too much than too little where it takes too long to find its end. */
  function shorterMatch(text: string, from: number): { start: number; end: number } | null {
    const longer = matchAt(text.slice(0, from + longest), from)
    let short = longer
    for (let cut = from + longest; short !== null && cut > from + longest - mostRetries; cut--) {
      if (short.end < cut || endsAt(text, short)) return short
      short = matchAt(text.slice(0, cut - 1), from)
    }
    return short === null ? null : longer
  }

  /** A match that is too long is looked for again in less of the text. */
  function nextMatch(text: string, from: number): { start: number; end: number } | null {
    let at = from
    for (let tries = 0; tries < mostRetries; tries++) {
      const found = at <= text.length ? matchAt(text, at) : null
      if (found === null || found.end - found.start <= longest) return found
      const short = shorterMatch(text, found.start)
      if (short !== null) return short
      at = found.start + 1
    }
    throw new Error('the pattern matches more than its longest match again and again')
  }

  return {
    find(text) {
      const found: Detection[] = []
      if (literal !== '' && !text.includes(literal)) return found
      for (let at = 0; at < text.length; ) {
        const match = nextMatch(text, at)
        if (match === null) break
        if (match.end > match.start) found.push({ ...match, note })
        at = Math.max(match.end, match.start + 1)
      }
      return found
    },
    growingFrom(text) {
      const matcher = growing.matcher(text)
      return matcher.find(Math.max(0, text.length - longest)) ? matcher.start() : text.length
    },
    rest: null,
    inJson: null,
  }
}
