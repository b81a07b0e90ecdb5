import type { JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { MediaPart } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { isYouTube, namedText, sniffType, storedElsewhere, typeOfAddress } from '../media-type.ts'
import type { ModelFacts } from '../model-facts.ts'
import { detailPath } from '../setting-paths.ts'

interface MediaWriting {
  /** Gemini 3 and later fetch URLs, and accept a resolution for each image. */
  isNewest: boolean
  ledger: Ledger
}

export function writeMedia(part: MediaPart, { isNewest, ledger }: MediaWriting): JsonObject {
  const { source, path } = part
  // For the other formats' names the table reports it.
  const losesTitle = part.name !== undefined && source.kind !== 'text' && ledger.from === 'messages'
  if (losesTitle) ledger.lose(`${path}.title`)
  switch (source.kind) {
    case 'text':
      return { text: namedText(part.name, source.data) }
    case 'id':
      ledger.refuse(path, storedElsewhere)
      return {}
    case 'data': {
      const mimeType = sniffType(source.type, source.data)
      if (mimeType === '') ledger.refuse(path, `the type of ${path} is not known; write it into the data URL`)
      return { inlineData: { mimeType, data: source.data }, ...writeDetail(part, isNewest, ledger) }
    }
    case 'url':
      return {
        fileData: writeUrl(part, source.url, source.type, { isNewest, ledger }),
        ...writeDetail(part, isNewest, ledger),
      }
  }
}

const levels: Readonly<Record<string, string>> = {
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_ULTRA_HIGH',
}

function writeDetail({ kind, detail, path }: MediaPart, isNewest: boolean, ledger: Ledger): JsonObject {
  const level = kind === 'image' ? ownValue(levels, detail ?? '') : undefined
  if (level === undefined) return {}
  if (isNewest) return { mediaResolution: { level } }
  ledger.lose(detailPath(ledger.from, path))
  return {}
}

/** The gateway fetches images and documents only if the route says so. */
function instead({ path, kind }: MediaPart): string {
  const route =
    kind === 'image' || kind === 'file' ? ', or ask the operator to let the route fetch it (--fetch-media)' : ''
  return `send the content of ${path} itself${route}`
}

/** Whether the model fetches the URL itself. It needs a type, which only the extension can tell. */
export function readsAddress({ url, type }: { url: string; type: string }, { reasoning }: ModelFacts): boolean {
  if (isYouTube(url)) return true
  return reasoning.control === 'level' && url.startsWith('https://') && typeOfAddress(url, type) !== undefined
}

function writeUrl(part: MediaPart, fileUri: string, said: string, { isNewest, ledger }: MediaWriting): JsonObject {
  if (isYouTube(fileUri)) return { fileUri }
  const mimeType = typeOfAddress(fileUri, said)
  if (!isNewest || !fileUri.startsWith('https://')) {
    ledger.refuse(part.path, `this model reads no addresses; ${instead(part)}`)
  } else if (mimeType === undefined) {
    ledger.refuse(part.path, `the type of what is at the address is not known; ${instead(part)}`)
  }
  return { mimeType, fileUri }
}
