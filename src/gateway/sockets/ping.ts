import type { Peer } from '../../providers/socket-peer.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'

const ownPing = Buffer.from('spgw')

/** One side's signs of life. */
export class LivePeer {
  readonly peer: Peer
  lastSign = performance.now()
  /** When it was asked for one; null: not since the last. */
  askedAt: number | null = null

  constructor(peer: Peer) {
    this.peer = peer
  }

  /** Something came from it, or it took something. */
  sign(): void {
    this.lastSign = performance.now()
    this.askedAt = null
  }

  /** Once a silence. */
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
 * The one limit of a connection: a side from which nothing comes within it, not even the answer to a ping, is gone. Who
 * has nothing to say may be silent for ever.
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
      // Not by its silence alone: whoever was not asked, since this process was not run meanwhile, could not answer.
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
