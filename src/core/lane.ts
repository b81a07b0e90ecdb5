/** The three inbound protocols. The same words name what a provider speaks: a lane and a provider of one word need no translation. */
export const laneNames = ['openai', 'anthropic', 'gemini'] as const
export type LaneName = (typeof laneNames)[number]

/** The four time limits of a call, in milliseconds; what each bounds: `contract.md`, `gateway.timeouts`. */
export interface TimeLimits {
  connect: number
  firstByte: number
  betweenChunks: number
  total: number
}
