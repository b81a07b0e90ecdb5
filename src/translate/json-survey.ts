import { passString } from '../core/json/json-text.ts'
import { isSpace } from '../core/json/json-walk.ts'
import type { PlainTurnFinder } from './find-plain-turns.ts'

/** What one pass over the bytes tells about a document before it is parsed. */
export interface JsonSurvey {
  /** As far as it looked. */
  values: number
  /** More values than any real request has. Each costs a multiple of its bytes in memory and time. */
  tooMany: boolean
  /** Nested deeper than any real request. Such a document is parsed recursively, which fails where writing it would fail too. */
  isDeep: boolean
  /** Contains a number that would be written in another form. */
  hasOddNumber: boolean
}

/** Deeper than any real request. */
const usualDepth = 1000
export const mostValues = 200_000
/** A message that is passed has its own and its members. */
const valuesOfMessage = 2

const [quote, comma, minus, nine, zero] = [0x22, 0x2c, 0x2d, 0x39, 0x30]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Does not check the grammar: for invalid JSON the result is arbitrary. Stops as soon as the result is certain. `finder` is asked about
 * each message, and the messages that it passes are skipped.
 */
export function surveyJson(bytes: Buffer, finder: PlainTurnFinder | null = null): JsonSurvey {
  const survey: JsonSurvey = { values: 0, tooMany: false, isDeep: false, hasOddNumber: false }
  let depth = 0
  /** In the list of messages: which one; -1 elsewhere. */
  let index = -1
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    if (byte === quote) {
      at = passString(bytes, at + 1, bytes.length)
      if (at < 0) return survey
      continue
    }
    if (byte === comma) {
      survey.values++
      if (depth === 2 && index >= 0) index++
    } else if (byte === openBrace || byte === openBracket) {
      if (finder !== null && depth === 2 && index >= 0) {
        const end = finder.pass(at, index)
        if (end >= 0) {
          survey.values += valuesOfMessage
          at = end
          continue
        }
      }
      if (depth === 1) index = byte === openBracket && finder?.isList(at) === true ? 0 : -1
      survey.values++
      depth++
      if (depth > usualDepth) survey.isDeep = true
    } else if (byte === closeBrace || byte === closeBracket) depth--
    else if (byte === minus || (byte >= zero && byte <= nine)) {
      const end = endOfNumber(bytes, at)
      survey.hasOddNumber ||= isOddNumber(bytes, at, end)
      at = end
      continue
    }
    if (survey.values > mostValues) {
      survey.tooMany = true
      return survey
    }
    at++
  }
  return survey
}

function endOfNumber(bytes: Buffer, start: number): number {
  let end = start + 1
  for (; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0
    if (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)) break
  }
  return end
}

/** Integers with fewer digits are written in the same form, except `-0`. */
const plainDigits = 15
const longestNumber = 4096

function isOddNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > longestNumber) return true
  if (end - start <= plainDigits && bytes[start] !== minus && areDigits(bytes, start, end)) return false
  const text = bytes.toString('latin1', start, end)
  return String(Number(text)) !== text
}

function areDigits(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) < zero || (bytes[at] ?? 0) > nine) return false
  return true
}
