import type { Results } from './results.ts'

export interface Aim {
  title: string
  must: number
  aim: number
  unit: string
  /** NaN where this run cannot tell. */
  value(results: Results): number
}

/** spgw's figure over that of another. */
function over(figure: string, other: 'nginx' | 'portkey') {
  return (results: Results) => results.median('spgw', figure) / results.median(other, figure)
}

function own(...figures: string[]) {
  return (results: Results) => Math.max(...figures.map((figure) => results.median('spgw', figure)))
}

/** What spgw holds itself to. All are upper limits. */
export const aims: readonly Aim[] = [
  { title: 'CPU a small request ÷ nginx', must: 6, aim: 4, unit: '×', value: over('small-cpu-32', 'nginx') },
  {
    title: 'requests/s of Portkey ÷ ours',
    must: 1 / 6,
    aim: 1 / 8,
    unit: '×',
    value: (results) => 1 / over('small-rate-32', 'portkey')(results),
  },
  {
    title: 'CPU a small request ÷ Portkey',
    must: 1 / 6,
    aim: 1 / 8,
    unit: '×',
    value: over('small-cpu-32', 'portkey'),
  },
  { title: 'added p50 ÷ nginx', must: 2.2, aim: 1.6, unit: '×', value: over('added-p50', 'nginx') },
  { title: 'CPU a chunk ÷ Portkey', must: 0.7, aim: 0.5, unit: '×', value: over('chunk-cpu', 'portkey') },
  { title: 'CPU a chunk ÷ nginx', must: 3.5, aim: 2.5, unit: '×', value: over('chunk-cpu', 'nginx') },
  { title: 'an open stream, of 2,000', must: 65, aim: 50, unit: 'KB', value: own('stream-kb-2000') },
  { title: '1 MB image body ÷ Portkey', must: 1 / 8, aim: 1 / 11, unit: '×', value: over('image-cpu', 'portkey') },
  { title: '1 MB chat body ÷ Portkey', must: 1 / 8, aim: 1 / 11, unit: '×', value: over('chat-cpu', 'portkey') },
  { title: 'idle memory', must: 160, aim: 110, unit: 'MB', value: own('idle-mb') },
  { title: 'start to /readyz', must: 1000, aim: 400, unit: 'ms', value: own('ready-ms') },
  {
    title: 'client gone → provider’s connection closed, p99',
    must: 100,
    aim: 100,
    unit: 'ms',
    value: own('abort-before-head-p99', 'abort-before-content-p99', 'abort-mid-stream-p99'),
  },
  { title: 'calls for a client that is gone', must: 0, aim: 0, unit: '', value: own('abort-late-calls') },
]
