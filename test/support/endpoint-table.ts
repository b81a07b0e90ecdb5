/** What each SDK got from each endpoint, to be printed: a line for an endpoint, a column for an SDK. */
export class EndpointTable {
  readonly #sdks: readonly string[]
  readonly #statuses = new Map<string, Set<number>>()

  constructor(sdks: readonly string[]) {
    this.#sdks = sdks
  }

  note(sdk: string, endpoint: string, status: number): void {
    const cell = `${sdk}\n${endpoint}`
    this.#statuses.set(cell, (this.#statuses.get(cell) ?? new Set()).add(status))
  }

  /** In ascending order; none where the SDK has not called it. */
  statuses(sdk: string, endpoint: string): number[] {
    return [...(this.#statuses.get(`${sdk}\n${endpoint}`) ?? [])].sort((a, b) => a - b)
  }

  print(endpoints: readonly string[]): void {
    const cells = (endpoint: string) => this.#sdks.map((sdk) => this.statuses(sdk, endpoint).join(' ') || '–')
    const rows = [['endpoint', ...this.#sdks], ...endpoints.map((endpoint) => [endpoint, ...cells(endpoint)])]
    const widths = ['', ...this.#sdks].map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
    const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    process.stdout.write(`${lines.join('\n')}\n`)
  }
}
