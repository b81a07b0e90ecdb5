import { chatCall, laneCall, largeCall, verify } from './calls.ts'
import { drive } from './load.ts'
import { playStreams } from './parts/streams.ts'
import type { Bench, Target } from './target.ts'

/** A load whose cost can be told by the piece. */
export interface PieceLoad {
  unit: 'request' | 'chunk'
  /** The gateway alone has these paths. */
  ownOnly?: boolean
  /** Resolves with the number of pieces, each of which was answered well. */
  play(bench: Bench, target: Target, seconds: number): Promise<number>
}

const streamCount = 300
const chunkPaceMs = 50

/** What `cpu` and `profile` can be asked for. */
export const loads: Readonly<Record<string, PieceLoad>> = {
  small: requests(chatCall('bench-small'), 32),
  streams: {
    unit: 'chunk',
    async play(_bench, target, seconds) {
      const chunks = Math.round((seconds * 1000) / chunkPaceMs)
      await playStreams(target, streamCount, chunks, chunkPaceMs)
      return streamCount * chunks
    },
  },
  image: requests(largeCall('image'), 4),
  chat: requests(largeCall('chat'), 4),
  anthropic: { ...requests(laneCall('anthropic'), 32), ownOnly: true },
  gemini: { ...requests(laneCall('gemini'), 32), ownOnly: true },
  tls: { ...requests(chatCall('bench-small-tls'), 32), ownOnly: true },
}

function requests(call: ReturnType<typeof chatCall>, connections: number): PieceLoad {
  return {
    unit: 'request',
    async play(bench, target, seconds) {
      await verify(target, call)
      return (await drive(bench, target, call, connections, seconds)).requests
    },
  }
}
