const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** HTML that is safe to stand in a page; only `markup` makes it. */
export class Markup {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

type Value = string | number | Markup | readonly Markup[]

/** Every value is escaped but markup itself, so that a name cannot become a tag or an attribute. */
export function markup(parts: TemplateStringsArray, ...values: Value[]): Markup {
  const written = parts.map((part, index) => part + write(values[index] ?? ''))
  return new Markup(written.join(''))
}

function write(value: Value): string {
  if (value instanceof Markup) return value.source
  if (typeof value === 'object') return value.map(({ source }) => source).join('')
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
