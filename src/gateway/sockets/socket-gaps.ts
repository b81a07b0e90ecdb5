/** After so long a provider may have learned it: its next handshake shows. */
const keptMs = 10 * 60_000
/** How servers answer a handshake at a path where they have no WebSocket. */
const gapStatuses = new Set([403, 404, 405, 426, 501])

/**
 * Which providers answered a handshake as servers do that have no such WebSocket. Of a server that no preset names, only
 * a handshake shows it. An entry for each provider and operation: they are few.
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
