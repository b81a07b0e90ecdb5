import type { Exemplar } from '../core/traffic-tally.ts'

/** The Prometheus text exposition format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>

export interface Sample {
  labels?: Labels
  value: number
  /** Of a bucket; shown in OpenMetrics alone. */
  exemplar?: Exemplar | undefined
}

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /** `suffix` is a histogram's `_bucket`, `_sum` or `_count`. */
  samples: (Sample & { suffix?: string })[]
}

export function writeExposition(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(({ suffix = '', labels = {}, value }) => {
        return `${name}${suffix}${writeLabels(labels)} ${writeValue(value)}\n`
      })
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

export function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}

export function writeValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
