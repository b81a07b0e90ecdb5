import type { MediaSource } from './conversation.ts'

const beginning = /^data:([^;,]*)((?:;[^;,]*)*),/

/**
 * Reads `data:image/png;base64,…` as data, anything else as a URL. `bare`: the type of base64 without a prefix, if the format allows that.
 */
export function readDataUrl(text: string, bare?: string): MediaSource {
  const found = beginning.exec(text.slice(0, 256))
  if (found !== null) {
    const [whole, type = '', parameters = ''] = found
    const data = text.slice(whole.length)
    // OpenAI takes base64 in lines, as `base64` writes it.
    if (parameters.includes(';base64')) return { kind: 'data', type, data: data.replace(/\s+/g, '') }
    return { kind: 'text', type, data: decode(data) }
  }
  if (bare !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 64)))
    return { kind: 'data', type: bare, data: text }
  return { kind: 'url', type: '', url: text }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function writeDataUrl(type: string, data: string): string {
  return `data:${type};base64,${data}`
}
