import { RE2JS } from 're2js'
import { errorText } from '../../core/caught.ts'
import { isWithinCharacter } from '../../core/character-pairs.ts'
import type { Detection } from '../detectors/detector.ts'
import { readPattern } from './pattern-parts.ts'
import type { Seeker } from './seeker.ts'

/** What a pattern finds has the rule's name. */
const note = ''
/** Of matches that are longer than they may be: each costs a search more. */
const mostRetries = 20
/** The same where only their end is missing: each looks through a long word once more. */
const mostWithoutEnd = 2
/** Then a pattern compiles within 100 ms, and looks through a kilobyte within 10 ms at worst. */
const mostWeight = 1000

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
    return describeWrong(pattern, errorText(error))
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

  /** With no more than it may have, and one character more in sight: a cut is the end of neither the text nor a word. */
  function shorterMatch(text: string, from: number): { start: number; end: number } | null {
    beforeOneMore ??= RE2JS.compile(`(${pattern}${isQuoteOpen(pattern) ? '\\E' : ''})(?s:.)`)
    const end = from + longest
    const matcher = beforeOneMore.matcher(text.slice(0, end + (isWithinCharacter(text, end + 1) ? 2 : 1)))
    return matcher.find(from) ? { start: matcher.start(1), end: matcher.end(1) } : null
  }

  /**
   * A match that is too long is looked for again in less of the text. Where none is found again and again, as within a very long
   * word, the cut is taken for an end: rather too much is found than too little.
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
