import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { CacheMark, MediaPart, MediaSource, RefusalPart, TextPart } from '../conversation.ts'
import { readDataUrl } from '../data-url.ts'
import { typeForName } from '../file-name.ts'
import { readCitations } from './citations.ts'

/** Reports an object as a whole, by the row of the table for its kind. */
export type SkipObject = (object: JsonObject, field: string, path: string) => void

type MessageContent = TextPart | RefusalPart | MediaPart

/** A message's content. A plain string has the path of its message's member. */
export function readContent(content: unknown, path: string, skip: SkipObject): MessageContent[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, path }]
  return asArray(content).flatMap((value, index) => {
    const part = asObject(value)
    if (part === null) return []
    return readPart(part, `${path}[${index}]`, skip) ?? []
  })
}

/** The output of a tool. */
export function readOutputParts(output: unknown, path: string, skip: SkipObject): (TextPart | MediaPart)[] {
  return readContent(output, path, skip).map((part) =>
    part.kind === 'refusal' ? { kind: 'text', text: part.text, path: part.path } : part,
  )
}

function readPart(part: JsonObject, path: string, skip: SkipObject): MessageContent | null {
  const mark = readMark(part.prompt_cache_breakpoint)
  const base = { path, ...(mark !== null && { cacheMark: mark }) }
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const citations = readCitations(part.annotations, 0)
      return { kind: 'text', text: asString(part.text), ...base, ...(citations.length > 0 && { citations }) }
    }
    case 'refusal':
      return { kind: 'refusal', text: asString(part.refusal), ...base }
    case 'input_image':
      return readImage(part, base)
    case 'input_file':
      return readFile(part, base)
    case 'input_audio': {
      const audio = asObject(part.input_audio)
      const source: MediaSource = {
        kind: 'data',
        type: audio?.format === 'mp3' ? 'audio/mpeg' : `audio/${asString(audio?.format)}`,
        data: asString(audio?.data),
      }
      return { kind: 'audio', source, ...base }
    }
    default:
      skip(part, 'input.content:unknown', path)
      return null
  }
}

function readMark(value: unknown): CacheMark | null {
  const mark = asObject(value)
  if (mark === null) return null
  return mark.ttl === '12h' ? '12h' : '30m'
}

function readImage(part: JsonObject, base: { path: string }): MediaPart {
  const url = asText(part.image_url)
  const source: MediaSource = url === null ? { kind: 'id', id: asString(part.file_id) } : readDataUrl(url)
  const detail = asText(part.detail)
  return { kind: 'image', source, ...base, ...(detail !== null && { detail }) }
}

function readFile(part: JsonObject, base: { path: string }): MediaPart {
  const [data, url, name] = [asText(part.file_data), asText(part.file_url), asText(part.filename)]
  const source: MediaSource =
    data !== null
      ? readDataUrl(data, typeForName(name))
      : url !== null
        ? { kind: 'url', type: '', url }
        : { kind: 'id', id: asString(part.file_id) }
  return { kind: 'file', source, ...base, ...(name !== null && { name }) }
}
