/** After this time the provider may have gained the WebSocket: its next handshake shows. */
const keptMs = 10 * 60_000
/** Statuses with which servers answer a handshake at a path where they have no WebSocket. */
const gapStatuses = new Set([403, 404, 405, 426, 501])

/**
 * Providers that answered a handshake as servers do that do not have this WebSocket. Without a preset only a handshake shows it. One entry
 * for each provider and operation, so there are few.
 */
export class SocketGaps {
  readonly #until = new Map<string, number>()

  /** `status`: what the provider answered in place of 101. */
  record(providerId: string, operation: string, status: number, now: number): void {
    if (status < 300 || gapStatuses.has(status)) this.#until.set(`${operation} ${providerId}`, now + keptMs)
  }

  isRecorded(providerId: string, operation: string, now: number): boolean {
    const until = this.#until.get(`${operation} ${providerId}`) ?? 0
    // A later time than it ever sets is of a clock that has been set back.
    return until > now && until - now <= keptMs
  }
}
