import { escapeControls, formatValue, guessFormat, withoutUnit } from '../../../../admin/contract/show-value.ts'
import type { Signal } from '../../../../core/record.ts'

/** `pattern demo*`, `delay 1.0 s`: what the rule itself is called is not said twice. */
export function figuresOf({ rule, data = {} }: Pick<Signal, 'rule' | 'data'>): string {
  const view = { now: Date.now(), utc: true }
  return Object.entries(data)
    .map(([name, value]) => {
      const title = name === rule ? '' : `${escapeControls(withoutUnit(name).replaceAll('_', ' '))} `
      return `${title}${formatValue(value, typeof value === 'number' ? numeric(name) : 'text', view)}`
    })
    .join(' · ')
}

function numeric(name: string) {
  const format = guessFormat(name)
  return format === 'text' ? 'number' : format
}
