import { ownValue } from '../core/own-value.ts'

/** The first bytes in base64, by media type: declared types are often wrong, and Anthropic rejects those. */
const beginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi0', 'application/pdf'],
]

/** The type that the bytes show, else the declared one. */
export function sniffType(said: string, data: string): string {
  const found = beginnings.find(([beginning]) => data.startsWith(beginning))
  if (found !== undefined) return found[1]
  // RIFF, four bytes of length, WEBP.
  const isWebp =
    data.startsWith('UklGR') && Buffer.from(data.slice(0, 16), 'base64').toString('latin1', 8, 12) === 'WEBP'
  if (isWebp) return 'image/webp'
  const type = said.toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

/** A plain text that was sent as a file, for formats whose texts have no names. */
export function namedText(name: string | undefined, text: string): string {
  return name === undefined ? text : `${name}\n\n${text}`
}

/** Why a file that is only given by its id is refused. */
export const storedFile = 'a stored file is only known to the provider that stores it'
export const storedElsewhere = 'the file is stored at another provider; send its content'

/** Videos that Google reads from their URL. */
export function isYouTube(url: string): boolean {
  return /^https:\/\/(?:www\.youtube\.com\/watch\?|youtu\.be\/)/.test(url)
}

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
}

/** The type of what is at a URL: as declared, else by its extension. */
export function typeOfAddress(url: string, said: string): string | undefined {
  if (said !== '') return said
  const ending = /\.(\w{1,5})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ''
  return isYouTube(url) ? 'video/*' : ownValue(types, ending)
}
