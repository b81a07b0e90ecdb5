import { ownValue } from '../../core/own-value.ts'
import type { ListedProviderModel } from '../contract.ts'

/**
 * How the demo provider behaves, by model name. Any other name answers like `demo`.
 * - `demo`: a short answer at once; `demo-large`: a longer one.
 * - `demo-slow`: 2 s before the first byte, 200 ms between chunks.
 * - `demo-error-429`: refuses with 429 and `retry-after: 1`.
 * - `demo-cut`: breaks off in the middle of the answer, as a lost connection does.
 */
export interface Behaviour {
  /** Milliseconds before the head, and between chunks. */
  firstMs: number
  gapMs: number
  refuses: boolean
  cut: boolean
  long: boolean
}

const plain: Behaviour = { firstMs: 5, gapMs: 5, refuses: false, cut: false, long: false }
const named: Readonly<Record<string, Behaviour>> = {
  'demo-large': { ...plain, long: true },
  'demo-slow': { ...plain, firstMs: 2000, gapMs: 200 },
  'demo-error-429': { ...plain, refuses: true },
  'demo-cut': { ...plain, cut: true },
}

export const demoModels: readonly ListedProviderModel[] = ['demo', ...Object.keys(named)].map((name) => ({
  name,
  contextTokens: 128_000,
  outputTokens: 16_384,
}))

export function behaviourOf(model: string): Behaviour {
  return ownValue(named, model) ?? plain
}
