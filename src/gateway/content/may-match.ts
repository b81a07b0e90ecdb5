import { isUtf8 } from 'node:buffer'
import type { ContentSide } from '../../core/content-rules.ts'
import type { ReadyRules } from '../../policy/content/compile.ts'
import { disguisedBytes } from '../../policy/content/plain-text.ts'
import { fileIdNames, fileNames, logprobNames, tokenNames, unseenNames, unseenTypes } from './content-texts.ts'

/** A longer document is looked at text by text, with turns for others in between. */
const longest = 256 * 1024

/** Characters that are not written as they are; a document in another encoding has zeros. */
const hidden = String.raw`\\u|\0`
const quoted = (names: ReadonlySet<string>) => `"(?:${[...names].join('|')})"`
/** Content that is no text, as `findTexts` sees it. */
const unseen = [
  quoted(unseenNames),
  quoted(fileIdNames),
  quoted(unseenTypes),
  // What a member of such a name holds may be a file.
  String.raw`${quoted(fileNames)}\s*:\s*["[]`,
  String.raw`${quoted(logprobNames)}\s*:\s*[{[]`,
].join('|')
const needsLook = new RegExp(`${hidden}|${disguisedBytes}|${unseen}`)
/** A prompt that may be numbers, and a list that begins with one. */
const namesTokens = new RegExp(String.raw`${quoted(tokenNames)}\s*:\s*\[`)
/** Texts that may be parts of one, over which something may be spread. */
const partForm = /"text"\s*:\s*"((?:[^"\\]|\\.)*)"/gs
const beginsWithScalar = /\[\s*[^"{[\]\s]/

/** Without what stands between them. Texts that are none of one message are joined too: that only costs a look. */
function joinParts(written: string): string {
  if (!written.includes('"text"')) return ''
  const parts = Array.from(written.matchAll(partForm), ([, text = '']) => text)
  return parts.length < 2 ? '' : parts.join('')
}

/**
 * Whether content rules may have to do anything with a JSON document: one look at its bytes, and most documents need no other. False is
 * certain: nothing would be found in its texts, and it holds nothing that rules cannot look at.
 */
export function mayMatch(bytes: Buffer, side: ContentSide, { inJson }: ReadyRules): boolean {
  const form = inJson[side]
  // A byte that is no UTF-8 may stand within anything.
  if (form === null || bytes.length > longest || !isUtf8(bytes)) return true
  const written = bytes.toString('latin1')
  if (form.test(written) || needsLook.test(written)) return true
  if (side === 'prompt' && form.test(joinParts(written))) return true
  return namesTokens.test(written) && beginsWithScalar.test(written)
}
