import { RE2JS } from 're2js'
import { errorText } from '../../core/caught.ts'
import { isWithinCharacter } from '../../core/text/character-pairs.ts'
import type { Detection } from '../detectors/detector.ts'
import { readPattern } from './pattern-parts.ts'
import type { Seeker } from './seeker.ts'

/** A match of a pattern is named after its rule. */
const note = ''
/** Matches longer than allowed that are searched again, at the cost of one search each. */
const mostRetries = 20
/** The same for matches whose end is missing: each scans a long word once more. */
const mostWithoutEnd = 2
/** With this bound a pattern compiles within 100 ms, and scans a kilobyte within 10 ms at worst. */
const mostWeight = 1000

/** `\Q` quotes up to `\E`, or to the end. */
const isQuoteOpen = (pattern: string) => /\\Q(?:(?!\\E).)*$/s.test(pattern)

/** null: the pattern is valid; otherwise what is wrong, as half a sentence. */
export function wrongPattern(pattern: string): string | null {
  try {
    // Checked before compiling, which may take seconds.
    const { partial, weight } = readPattern(pattern)
    if (weight > mostWeight)
      return `with its repetitions written out it has ${weight} parts, and ${mostWeight} are the most`
    const compiled = RE2JS.compile(pattern)
    if (compiled.matcher('').find()) return 'it matches the empty text, so that it would match everywhere'
    RE2JS.compile(`(?:${partial})\\z`)
    return null
  } catch (error) {
    return describeWrong(pattern, errorText(error))
  }
}

function describeWrong(pattern: string, message: string): string {
  if (/\(\?<?[=!]/.test(pattern)) return 'RE2 syntax has no look-ahead and no look-behind, so that every search is fast'
  if (/\\[1-9]/.test(pattern)) return 'RE2 syntax has no back references, so that every search is fast'
  return message.replace(/^error parsing regexp: /, '')
}

/** Finds matches of a pattern up to a length, with an engine whose time is linear in the text, whatever the pattern. */
export function patternSeeker(pattern: string, longest: number): Seeker {
  const form = RE2JS.compile(pattern)
  const { partial, literal } = readPattern(pattern)
  const growing = RE2JS.compile(`(?:${partial})\\z`)
  let beforeOneMore: RE2JS | null = null

  function matchAt(text: string, from: number): { start: number; end: number } | null {
    const matcher = form.matcher(text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null
  }

  /**
   * Searches a cut text with one character more than a match may have, because the cut must not look like the end of the text or of a word.
   */
  function shorterMatch(text: string, from: number): { start: number; end: number } | null {
    beforeOneMore ??= RE2JS.compile(`(${pattern}${isQuoteOpen(pattern) ? '\\E' : ''})(?s:.)`)
    const end = from + longest
    const matcher = beforeOneMore.matcher(text.slice(0, end + (isWithinCharacter(text, end + 1) ? 2 : 1)))
    return matcher.find(from) ? { start: matcher.start(1), end: matcher.end(1) } : null
  }

  /**
   * Searches a match that is too long again in a shorter text. If that fails repeatedly, as in a very long word, the cut counts as an end:
   * finding too much is better than too little.
   */
  function nextMatch(text: string, from: number): { start: number; end: number } | null {
    let cut: { start: number; end: number } | null = null
    let at = from
    for (let tries = 0; tries < mostRetries; tries++) {
      const found = at <= text.length ? matchAt(text, at) : null
      if (found === null || found.end - found.start <= longest) return found
      const short = shorterMatch(text, found.start)
      if (short !== null) return short
      const end = found.start + longest
      cut ??= matchAt(text.slice(0, isWithinCharacter(text, end) ? end - 1 : end), found.start)
      if (cut !== null && tries >= mostWithoutEnd) return cut
      at = found.start + (isWithinCharacter(text, found.start + 1) ? 2 : 1)
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
      const from = Math.max(0, text.length - longest)
      return matcher.find(isWithinCharacter(text, from) ? from - 1 : from) ? matcher.start() : text.length
    },
    rest: null,
    inJson: null,
  }
}
