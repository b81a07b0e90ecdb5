import { formatValue, guessFormat, withoutUnit } from '../../../admin/contract/show-value.ts'

/** One field that differs. `before` or `after` is null where the field is missing. */
export interface Difference {
  /** `timeouts.total_ms` */
  path: string
  before: string | null
  after: string | null
}

/** What differs between two answers, in the order of their fields; `leaveOut` names fields that always do. */
export function findDifferences(before: unknown, after: unknown, leaveOut: readonly string[] = []): Difference[] {
  const left = new Map(flatten(before, '', leaveOut))
  const right = new Map(flatten(after, '', leaveOut))
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((path) => {
    const was = left.get(path) ?? null
    const is = right.get(path) ?? null
    return was === is ? [] : [{ path, before: was, after: is }]
  })
}

/** Leaves with their paths. A list of words is one leaf; items that are objects go by their name or index. */
function flatten(value: unknown, path: string, leaveOut: readonly string[]): [path: string, text: string][] {
  if (value === null || value === undefined || value === '') return []
  if (Array.isArray(value)) return flattenList(value, path, leaveOut)
  if (typeof value === 'number') return [[path, withUnit(value, path)]]
  if (typeof value !== 'object') return [[path, String(value)]]
  return Object.entries(value)
    .filter(([name]) => !leaveOut.includes(name))
    .flatMap(([name, inner]) => flatten(inner, path === '' ? name : `${path}.${name}`, leaveOut))
}

/** The readable path drops the unit (`timeouts.first_byte_ms`), so the value shows it. */
function withUnit(value: number, path: string): string {
  const field = path.slice(path.lastIndexOf('.') + 1)
  return formatValue(value, guessFormat(field), { now: 0, utc: true })
}

function flattenList(items: unknown[], path: string, leaveOut: readonly string[]): [string, string][] {
  if (items.length === 0) return []
  if (items.every((item) => typeof item !== 'object' || item === null)) return [[path, items.map(String).join(', ')]]
  const seen = new Map<string, number>()
  return items.flatMap((item, index) => {
    const name = nameOf(item) ?? String(index + 1)
    const times = (seen.get(name) ?? 0) + 1
    seen.set(name, times)
    // A route may have two targets at one provider.
    return flatten(item, `${path}[${times === 1 ? name : `${name} ${times}`}]`, leaveOut)
  })
}

function nameOf(item: unknown): string | null {
  for (const field of ['id', 'name', 'provider']) {
    const value: unknown = Reflect.get(Object(item), field)
    if (typeof value === 'string') return value
  }
  return null
}

/** `timeouts.total_ms` → `Timeouts, total`, `credentials[cre_01m7zj73].last_four` → `Credentials …7zj73, last four`. */
export function pathInWords(path: string): string {
  const words = path
    .replace(/\[[a-z]{3}_\w*(\w{5})\]/g, ' …$1')
    .replace(/\[([^\]]*)\]/g, ' $1')
    .split('.')
    .map((word) =>
      withoutUnit(word)
        .replaceAll('_', ' ')
        .replace(/\burl\b/g, 'URL')
        .replace(/\bid\b/g, 'ID'),
    )
    .join(', ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
