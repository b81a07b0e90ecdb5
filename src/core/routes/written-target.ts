import { type FormatName, isFormatName } from '../format.ts'

/** Targets of one route: each is checked for every request. */
export const mostTargets = 256
/** Longer than both names with all options: in longer texts the expression below looks for too many options. */
const mostCharacters = 2000

/** A route's target as people write it: `PROVIDER[:MODEL][,weight=N][,priority=N][,format=FORMAT]`. */
export interface WrittenTarget {
  provider: string
  upstreamModel: string | null
  weight: number | null
  priority: number | null
  format: FormatName | null
}

/** null: the text is no target. A provider's name has no colon, so a model may (`llama3:8b`). */
export function parseTarget(text: string): WrittenTarget | null {
  if (text.length > mostCharacters) return null
  const match =
    /^([^:,]+)(?::(.*?))?((?:,(?:(?:weight|priority)=\d+(?:\.\d+)?|format=(?:chat|responses|messages|generate)))*)$/.exec(
      text,
    )
  const [, provider, model, options] = match ?? []
  if (provider === undefined || model === '') return null
  return {
    provider,
    upstreamModel: model ?? null,
    weight: readOption(options, 'weight'),
    priority: readOption(options, 'priority'),
    format: readFormat(options),
  }
}

function readOption(options: string | undefined, name: string): number | null {
  const match = new RegExp(`,${name}=([\\d.]+)`).exec(options ?? '')
  return match?.[1] === undefined ? null : Number(match[1])
}

function readFormat(options: string | undefined): FormatName | null {
  const word = /,format=(\w+)/.exec(options ?? '')?.[1]
  return isFormatName(word) ? word : null
}

export function writeTarget({ provider, upstreamModel, weight, priority, format }: WrittenTarget): string {
  const model = upstreamModel === null ? '' : `:${upstreamModel}`
  const option = (name: string, value: number | string | null) => (value === null ? '' : `,${name}=${value}`)
  return `${provider}${model}${option('weight', weight)}${option('priority', priority)}${option('format', format)}`
}
