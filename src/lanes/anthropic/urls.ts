import type { LaneUrls } from '../contract.ts'
import { editTexts } from '../text-members.ts'

const resultsPath = /\/v1\/messages\/batches\/[^/?#]+\/results$/

/**
 * `results_url`, which both SDKs get as it stands, with the client's credential. Whatever host it names: only its path says
 * what it is. Source: wire/lanes.md, section 2.5.
 */
export function rewriteUrls(body: Buffer, { lane }: LaneUrls): Buffer {
  return editTexts(body, ['results_url'], (url) => {
    const path = resultsPath.exec(url)?.[0]
    return path === undefined ? null : lane + path
  })
}
