import { type BenchKey, type Call, largeCall, smallCall, type Way } from './calls.ts'
import { drive } from './load.ts'
import { playStreams } from './parts/streams.ts'
import type { Bench, Target, TargetName } from './target.ts'

/** A load whose cost can be told by the piece. */
export interface PieceLoad {
  unit: 'request' | 'chunk'
  /** Who cannot take part. */
  without?: TargetName[]
  /** The same load without what this one measures: the gateway is measured under both, in turns. */
  against?: string
  /** Resolves with the number of pieces, each of which was answered well. */
  play(bench: Bench, target: Target, seconds: number): Promise<number>
}

const streamCount = 300
const chunkPaceMs = 50

/** What `cpu` and `profile` can be asked for. */
export const loads: Readonly<Record<string, PieceLoad>> = {
  small: requests(smallCall(), 32),
  alone: requests(smallCall(), 1),
  streams: chunks(),
  image: requests(largeCall('image'), 4),
  chat: requests(largeCall('chat'), 4),
  anthropic: requests(smallCall('anthropic'), 32),
  gemini: { ...requests(smallCall('gemini'), 32), without: ['portkey'] },
  tls: requests(smallCall('tls'), 32),
  limits: { ...requests({ ...smallCall(), key: 'limited' }, 32), against: 'small' },
  detectors: { ...chunks({ key: 'screened' }), against: 'streams' },
  translated: { ...requests(smallCall('translated'), 32), against: 'small' },
  'translated-streams': { ...chunks({ way: 'translated' }), against: 'streams' },
  'translated-image': { ...requests(largeCall('image', 'translated'), 4), against: 'image' },
  'translated-chat': { ...requests(largeCall('chat', 'translated'), 4), against: 'chat' },
  policies: { ...requests({ ...smallCall(), key: 'everything' }, 32), against: 'small' },
}

function chunks({ way = 'openai', key }: { way?: Way; key?: BenchKey } = {}): PieceLoad {
  return {
    unit: 'chunk',
    async play(_bench, target, seconds) {
      const count = Math.round((seconds * 1000) / chunkPaceMs)
      await playStreams(target, way, streamCount, count, chunkPaceMs, key)
      return streamCount * count
    },
  }
}

function requests(call: Call, connections: number): PieceLoad {
  return {
    unit: 'request',
    async play(bench, target, seconds) {
      return (await drive(bench, target, call, { connections, seconds })).requests
    },
  }
}
