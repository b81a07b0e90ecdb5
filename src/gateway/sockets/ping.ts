import type { Peer } from '../../providers/socket-peer.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'

const ownPing = Buffer.from('spgw')

/** Whether one side of a connection is alive. */
export class LivePeer {
  readonly peer: Peer
  lastSign = performance.now()
  /** When it was pinged; null: not since it last showed activity. */
  askedAt: number | null = null

  constructor(peer: Peer) {
    this.peer = peer
  }

  /** Something arrived from it, or it read something. */
  sign(): void {
    this.lastSign = performance.now()
    this.askedAt = null
  }

  /** Pings it once per period of silence. */
  ask(): void {
    if (this.askedAt !== null) return
    this.askedAt = performance.now()
    this.peer.ping(ownPing)
  }

  isOwn(pong: Buffer): boolean {
    return this.askedAt !== null && pong.equals(ownPing)
  }
}

/**
 * The only time limit of a connection: a side that sends nothing within it, not even a pong, is gone. A side with nothing to say may stay
 * silent forever.
 */
export function watchPeers(
  deadlines: Deadlines,
  limitMs: number,
  peers: () => readonly LivePeer[],
  onDead: (live: LivePeer) => void,
): { stop(): void } {
  const deadline = new Deadline(() => {
    const now = performance.now()
    let next = now + limitMs / 2
    for (const live of peers()) {
      if (live.peer.paused) live.sign()
      // Silence alone is not enough: a side that was not pinged, because this process was suspended, could not answer.
      if (live.askedAt !== null && now - live.askedAt >= limitMs / 2) return onDead(live)
      if (now - live.lastSign >= limitMs / 2) live.ask()
      next = Math.min(next, (live.askedAt ?? live.lastSign) + limitMs / 2)
    }
    deadline.at = next
  })
  deadline.at = performance.now() + limitMs / 2
  deadlines.add(deadline)
  return { stop: () => deadlines.remove(deadline) }
}
