import { formatBytes } from '../../core/text/format-bytes.ts'
import { type Detector, findForm } from './detector.ts'

const smallestBlob = 1024
/** Base64 of either alphabet, in one piece or in lines as in e-mail. */
const runForm = /(?<![0-9A-Za-z+/_-])[0-9A-Za-z+/_-]{60,}(?:\r?\n[0-9A-Za-z+/_-]{4,76})*={0,2}/g
const addressForm = /data:([\w.+-]{1,64}\/[\w.+-]{1,64})(?:;[\w.=+-]{1,64}){0,4},$/
const longestAddress = 480

/** By their first bytes, in base64. */
const kinds: readonly [beginning: string, type: string][] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['Qk', 'image/bmp'],
  ['JVBERi0', 'application/pdf'],
  ['SUQz', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
  ['UEsDB', 'application/zip'],
]
/** RIFF files name their type at byte 8. */
const riffKinds: readonly [mark: string, type: string][] = [
  ['WEBP', 'image/webp'],
  ['WAVE', 'audio/wav'],
  ['AVI ', 'video/x-msvideo'],
]

/** Images, sound and other files written as text. Those smaller than 1 KB are ignored. */
export const blobs: Detector = (text) =>
  findForm(text, 0, runForm, '', ({ index, 0: run }) => {
    if (run.length < smallestBlob) return null
    const [start, end] = [startOf(text, index), index + run.length]
    return { start, end, note: describe(text.slice(start, end)) }
  })

/** A `data:` URL is masked as a whole. */
function startOf(text: string, index: number): number {
  const before = text.slice(Math.max(0, index - longestAddress), index)
  return index - (addressForm.exec(before)?.[0].length ?? 0)
}

function describe(blob: string): string {
  const comma = blob.startsWith('data:') ? blob.indexOf(',') : -1
  const data = blob.slice(comma + 1)
  const type = comma < 0 ? guessType(data) : (/^data:([^;,]+)/.exec(blob)?.[1] ?? 'data')
  return `${type}, ${formatBytes(Math.floor((data.length * 3) / 4))}`
}

function guessType(data: string): string {
  const known = kinds.find(([beginning]) => data.startsWith(beginning))
  if (known !== undefined) return known[1]
  if (!data.startsWith('UklGR')) return 'base64'
  const mark = Buffer.from(data.slice(0, 16), 'base64').toString('latin1').slice(8, 12)
  return riffKinds.find(([word]) => word === mark)?.[1] ?? 'base64'
}
