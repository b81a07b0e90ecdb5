import { isUtf8 } from 'node:buffer'
import type { ContentSide } from '../../core/policies/content-rules.ts'
import type { ReadyRules } from '../../policy/content/compile.ts'
import { disguisedBytes } from '../../policy/content/plain-text.ts'
import { fileIdNames, fileNames, logprobNames, tokenNames, unseenNames, unseenTypes } from './content-texts.ts'

/** A longer document is scanned text by text, yielding to other requests. */
const longest = 256 * 1024

/** Signs of characters that are not written literally. A document in another encoding contains zeros. */
const hidden = String.raw`\\u|\0`
const quoted = (names: ReadonlySet<string>) => `"(?:${[...names].join('|')})"`
/** Content that is not text, as `findTexts` classifies it. */
const unseen = [
  quoted(unseenNames),
  quoted(fileIdNames),
  quoted(unseenTypes),
  // A member of this name may hold a file.
  String.raw`${quoted(fileNames)}\s*:\s*["[]`,
  String.raw`${quoted(logprobNames)}\s*:\s*[{[]`,
].join('|')
const needsLook = new RegExp(`${hidden}|${disguisedBytes}|${unseen}`)
/** A prompt that may be token numbers, and a list that begins with one. */
const namesTokens = new RegExp(String.raw`${quoted(tokenNames)}\s*:\s*\[`)
/** Texts that may be parts of one message, so that a match may span them. */
const partForm = /"text"\s*:\s*"((?:[^"\\]|\\.)*)"/gs
const beginsWithScalar = /\[\s*[^"{[\]\s]/

/** Joins them without what is between them. Joining texts of different messages too only costs one more look. */
function joinParts(written: string): string {
  if (!written.includes('"text"')) return ''
  const parts = Array.from(written.matchAll(partForm), ([, text = '']) => text)
  return parts.length < 2 ? '' : parts.join('')
}

/**
 * Whether content rules may have anything to do in a JSON document, from one pass over its bytes; most documents need no more. False is
 * certain: no text matches, and there is no content that rules cannot read.
 */
export function mayMatch(bytes: Buffer, side: ContentSide, { inJson }: ReadyRules): boolean {
  const form = inJson[side]
  // Bytes that are not UTF-8 may be inside any match.
  if (form === null || bytes.length > longest || !isUtf8(bytes)) return true
  const written = bytes.toString('latin1')
  if (form.test(written) || needsLook.test(written)) return true
  if (side === 'prompt' && form.test(joinParts(written))) return true
  return namesTokens.test(written) && beginsWithScalar.test(written)
}
