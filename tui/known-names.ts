import type { Field } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import type { Area } from './areas.ts'
import type { GatewayLink } from './gateway-link.ts'

/** How long names are taken for true. */
const freshMs = 10_000

/** Where a thing is; a member that is not given may be any. */
export interface NameScope {
  project?: string | undefined
  environment?: string | undefined
}

interface KnownName {
  name: string
  /** The thing that is called so. */
  row: unknown
}

/** The names that a field may take, where the contract has a list of them: `provider` is one of `providers list`. */
export class KnownNames {
  readonly #areas: readonly Area[]
  readonly #link: GatewayLink
  readonly #changed: () => void
  readonly #kept = new Map<string, { names: readonly KnownName[]; askedAt: number }>()

  constructor(areas: readonly Area[], link: GatewayLink, changed: () => void) {
    this.#areas = areas
    this.#link = link
    this.#changed = changed
  }

  of(field: Pick<Field, 'name'>, now: number, scope: NameScope = {}): readonly string[] {
    const source = this.#sourceOf(field.name)
    if (source === null) return []
    const kept = this.#kept.get(field.name)
    if (kept === undefined || now - kept.askedAt > freshMs) {
      this.#kept.set(field.name, { names: kept?.names ?? [], askedAt: now })
      void this.#ask(field.name, source)
    }
    const known = this.#kept.get(field.name)?.names ?? []
    return [...new Set(known.filter(({ row }) => isWithin(row, scope)).map(({ name }) => name))]
  }

  #sourceOf(name: string) {
    const nouns = [name, `${name}s`, name.replace(/y$/, 'ies')]
    const plain = this.#areas.find((area) => nouns.includes(area.name))?.list
    if (plain !== null && plain !== undefined) return plain
    // A word that a noun has a list of its own for: the kinds of providers.
    const tables = this.#areas.flatMap(({ operations }) => operations.filter(({ meta }) => meta.show.as === 'table'))
    return (
      tables.find(({ path, fields }) => path.at(-1) === `${name}s` && !fields.some(({ required }) => required)) ?? null
    )
  }

  async #ask(name: string, source: { path: readonly string[]; fields: readonly Field[] }): Promise<void> {
    const everywhere = source.fields.some((field) => field.name === 'all') ? { all: true } : {}
    try {
      const rows = await this.#link.call(source, everywhere)
      if (!Array.isArray(rows)) return
      const names = rows.flatMap((row: unknown) => {
        const value = valueAt(row, 'name') ?? valueAt(row, name) ?? valueAt(row, 'model')
        return typeof value === 'string' ? [{ name: value, row }] : []
      })
      this.#kept.set(name, { names, askedAt: this.#kept.get(name)?.askedAt ?? 0 })
      this.#changed()
    } catch {
      // A form is as good without; what is wrong with the link is said elsewhere.
    }
  }
}

/** What has no project or environment is in all. */
function isWithin(row: unknown, { project, environment }: NameScope): boolean {
  const fits = (own: unknown, wanted: string | undefined) =>
    wanted === undefined || typeof own !== 'string' || own === wanted
  return fits(valueAt(row, 'project'), project) && fits(valueAt(row, 'environment'), environment)
}
