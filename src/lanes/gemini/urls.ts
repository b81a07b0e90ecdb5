import type { LaneUrls } from '../contract.ts'
import { editTexts } from '../text-members.ts'

/** Members in which the URI of a file stands, both spellings. Source: wire/lanes.md, section 3.6. */
const names = ['uri', 'fileUri', 'file_uri', 'downloadUri', 'download_uri']

/** Below a provider's origin or base URL: what a client follows with its credential. */
const followed = /^\/(?:download\/)?v\d[a-z0-9]*\/(?:files\/|fileSearchStores\/[^/?#]+\/media\/)/

/** In an answer: they lead back here. Links to pages (grounding redirects, documentation) stand elsewhere and pass. */
export function rewriteUrls(body: Buffer, { lane, provider }: LaneUrls): Buffer {
  return exchange(body, provider, lane)
}

/** In a request: the provider knows only its own. */
export function restoreUrls(body: Buffer, { lane, provider }: LaneUrls): Buffer {
  return exchange(body, lane, provider)
}

function exchange(body: Buffer, from: string, to: string): Buffer {
  if (!body.includes(from)) return body
  return editTexts(body, names, (uri) => {
    if (!uri.startsWith(from)) return null
    const rest = uri.slice(from.length)
    return followed.test(rest) ? to + rest : null
  })
}
