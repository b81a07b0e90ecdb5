/** Nobody listens where the gateway was looked for. `hint` says what to do. */
export class GatewayNotRunning extends Error {
  override readonly name = 'GatewayNotRunning'
  readonly hint: string

  constructor(place: string, cause: unknown, hint = 'Start it: spgw serve') {
    super(`No gateway is running at ${place}.`, { cause })
    this.hint = hint
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
