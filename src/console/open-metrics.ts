import { type Family, type Sample, writeLabels, writeValue } from './exposition.ts'

/** OpenMetrics 1.0 (github.com/prometheus/OpenMetrics), for whoever asks for it: the same metrics, with exemplars. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** Prometheus asks for several formats with weights, this one first; whoever names it can read it. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'application/openmetrics-text' && !parameters.some((each) => /^q\s*=\s*0(\.0*)?$/.test(each))
  })
}

const total = '_total'

export function writeOpenMetrics(families: readonly Family[]): string {
  const shown = families.filter(({ samples }) => samples.length > 0)
  const names = new Set(shown.map(({ name }) => name))
  return `${shown.map((family) => writeFamily(family, names)).join('')}# EOF\n`
}

/**
 * A counter's family is named without `_total`, which its samples have. Where a family of that name is there already (how often
 * something began, beside whether it is so), the type is left open, since two families may not share a name.
 */
function writeFamily({ name, type, help, samples }: Family, names: ReadonlySet<string>): string {
  const short = type === 'counter' && name.endsWith(total) ? name.slice(0, -total.length) : name
  const clashes = short !== name && names.has(short)
  const family = clashes ? name : short
  const lines = samples.map(
    (sample) =>
      `${name}${sample.suffix ?? ''}${writeLabels(canonical(sample))} ${writeValue(sample.value)}${exemplarOf(sample)}\n`,
  )
  return `# HELP ${family} ${escapeHelp(help)}\n# TYPE ${family} ${clashes ? 'unknown' : type}\n${lines.join('')}`
}

/** Bounds are floating-point numbers here, and are written as such. */
function canonical({ labels = {} }: Sample): NonNullable<Sample['labels']> {
  const { le } = labels
  return le !== undefined && /^\d+$/.test(le) ? { ...labels, le: `${le}.0` } : labels
}

function exemplarOf({ exemplar }: Sample): string {
  if (exemplar === undefined) return ''
  const { traceId, spanId, value, time } = exemplar
  return ` # ${writeLabels({ trace_id: traceId, span_id: spanId })} ${writeValue(value)} ${time.toFixed(3)}`
}

/** Other than in Prometheus' own format, quotation marks are escaped as well. */
function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
