import type { Lane, Match } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'
import type { ProviderKind, ProviderTarget } from '../../src/providers/contract.ts'
import { findKind } from '../../src/providers/index.ts'
import { presets } from '../../src/providers/presets.ts'

/** A call as the gateway's client would make it, and the provider that was asked. */
export interface NativeCall {
  vendor: string
  lane: Lane
  match: Match
  query: string
  kind: ProviderKind
  provider: ProviderTarget
}

/** A vendor's paths, and the lane on which clients find them. */
interface Place {
  vendor: string
  host: string
  base: string
  lane: string
  kind: string
  preset?: string
}

const places: readonly Place[] = [
  { vendor: 'openai', host: 'api.openai.com', base: '/v1', lane: '/v1', kind: 'openai' },
  { vendor: 'openai', host: 'chatgpt.com', base: '/backend-api/codex', lane: '/v1', kind: 'openai' },
  { vendor: 'anthropic', host: 'api.anthropic.com', base: '', lane: '/v1/anthropic', kind: 'anthropic' },
  {
    ...{ vendor: 'gemini (openai)', host: 'generativelanguage.googleapis.com', base: '/v1beta/openai' },
    ...{ lane: '/v1', kind: 'openai-compatible' },
  },
  { vendor: 'gemini', host: 'generativelanguage.googleapis.com', base: '', lane: '/v1/gemini', kind: 'gemini' },
  ...presets.flatMap(({ name, baseUrl }) => placesOf(name, new URL(baseUrl))),
]

/** With the version segment and without: some vendors take both. */
function placesOf(preset: string, { host, pathname }: URL): Place[] {
  const place = { vendor: preset, host, lane: '/v1', kind: 'openai-compatible', preset }
  const base = pathname.replace(/\/$/, '')
  const short = base.replace(/\/v\d+$/, '')
  return (short === base ? [base] : [base, short]).map((each) => ({ ...place, base: each }))
}

/** Null: nobody that a lane speaks to natively, or a path that the lane does not have. `known`: the host is one. */
export function findNative(method: string, url: URL): { call: NativeCall | null; known: boolean } {
  const here = places.filter(({ host }) => host === url.host)
  for (const { vendor, base, lane: prefix, kind: name, preset } of here) {
    const below = url.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length) : null
    const lane = below === null ? null : findLane(`${prefix}${below}`)
    const match = below === null ? null : (lane?.match(method, below) ?? null)
    const kind = findKind(name)
    if (lane === null || match === null || kind === null) continue
    const settings: ProviderTarget['settings'] = preset === undefined ? {} : { preset }
    const provider = { name: vendor, baseUrl: '', settings }
    return { call: { vendor, lane, match, query: url.search, kind, provider }, known: true }
  }
  return { call: null, known: here.length > 0 }
}
