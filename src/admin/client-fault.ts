/** Nobody listens where the gateway was looked for. `hint` says what to do. */
export class GatewayNotRunning extends Error {
  override readonly name = 'GatewayNotRunning'
  readonly hint: string

  constructor(place: string, cause: unknown, hint = 'Start it: spgw serve') {
    super(`No gateway is running at ${place}.`, { cause })
    this.hint = hint
  }
}

/** The gateway was there, and ended before it had answered. `hint` says how to find out what became of the call. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost'
  readonly hint: string

  constructor(cause: unknown, hint: string) {
    super('The gateway stopped, or the connection was lost, before it answered.', { cause })
    this.hint = hint
  }
}

/** The admin socket is there, and not for this user. Whoever may open it is the owner of the gateway. */
export class SocketForbidden extends Error {
  override readonly name = 'SocketForbidden'
  readonly hint = 'Run it as the user of the gateway or as root, or let a group in: admin.socket_group.'
  /** Refused, as far as exit statuses go. */
  readonly exitStatus = 5

  constructor(path: string, cause: unknown) {
    super(`This user may not open ${path}.`, { cause })
  }
}

/** What the gateway answered in place of a result: `code` as in `contract/error-status.ts`, `data.hint` what to do. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed'
  readonly code: string
  readonly status: number
  readonly data: unknown

  constructor(code: string, status: number, message: string, data: unknown) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}
