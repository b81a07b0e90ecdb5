import { bytesPerToken } from './estimated-tokens.ts'

/**
 * How many tokens a request's body may come to, before a provider says so. Images and sound stand in it as base64, which is a
 * thousand times as long as what is charged for it.
 */

/** Shorter ones count as text, and so does all of a shorter body. */
export const leastMedia = 4096
const step = 1024
/** So many characters of base64 in a row are hardly ever words. */
const telling = 32
/** About what vendors count for a large image. */
const imageTokens = 1600
/** Of the base64 of sound: vendors count 10 to 32 tokens a second, which has 4 KB and more. */
const soundBytesPerToken = 160

/** Members that hold media, up to the quotation mark of the value. */
const mediaName = /"(?:url|data|image|image_url|file_data|b64_json|bytes|bytesBase64Encoded|result)"\s*:\s*"$/
const longestName = 64
const quote = 0x22
const backslash = 0x5c

export function promptTokens(body: Buffer): number {
  return Math.ceil(promptBytes(body) / bytesPerToken)
}

/** The same in bytes of text that would come to as many. */
export function promptBytes(body: Buffer): number {
  let text = body.length
  let tokens = 0
  for (let at = step; at < body.length && body.length >= leastMedia; at += step) {
    if (!isBase64(body, at)) continue
    const begin = body.lastIndexOf(quote, at) + 1
    const end = body.indexOf(quote, at)
    if (end < 0) break
    const found = end - begin < leastMedia || !mayBeMedia(body, begin, end) ? null : mediaTokens(body, begin, end)
    if (found !== null) {
      text -= end - begin
      tokens += found
    }
    at = end
  }
  return text + tokens * bytesPerToken
}

/** Where requests have media, and nothing but base64: what a client calls an image in its text costs what text costs. */
function mayBeMedia(body: Buffer, begin: number, end: number): boolean {
  if (!mediaName.test(body.toString('latin1', Math.max(0, begin - longestName), begin))) return false
  for (let at = begin + step; at < end; at += step) if (!isBase64(body, Math.min(at, end - telling))) return false
  return true
}

/** Some write a slash with a backslash before it. */
function isBase64(body: Buffer, at: number): boolean {
  const end = Math.min(at + telling, body.length)
  for (let place = at; place < end; place++) {
    const byte = body[place] ?? 0
    const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
    // From the slash to the 9; plus, minus, equals sign, underscore.
    if (isLetter || (byte >= 0x2f && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x3d || byte === 0x5f)
      continue
    if (byte !== backslash) return false
  }
  return true
}

/** Of a string that is nothing but media, as a data URL too; null: it is text, for all that is known here. */
function mediaTokens(body: Buffer, begin: number, end: number): number | null {
  const head = body.toString('latin1', begin, Math.min(begin + 200, end)).replaceAll('\\', '')
  const data = head.startsWith('data:') ? head.slice(head.indexOf(',') + 1) : head
  const bytes = Buffer.from(data.slice(0, 32), 'base64')
  const kind = kindOf(bytes.toString('latin1'))
  if (kind === 'sound') return Math.ceil((end - begin) / soundBytesPerToken)
  return kind === 'image' ? Math.min(imageTokens, Math.ceil((end - begin) / bytesPerToken)) : null
}

/** By how files begin. */
function kindOf(head: string): 'image' | 'sound' | null {
  if (/^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP|.{4}ftyp(?:hei|mif1|avif))/s.test(head)) return 'image'
  return /^(?:RIFF.{4}WAVE|ID3|\xff[\xe2-\xfb]|fLaC|OggS|.{4}ftypM4A)/s.test(head) ? 'sound' : null
}
