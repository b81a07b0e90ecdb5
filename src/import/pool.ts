import type { ConvertedProvider } from './converted.ts'
import { longestSlug, slugOf } from './converted.ts'

/** The providers that a conversion comes to: what is the same in all but its name is one. */
export class ProviderPool {
  readonly #byContent = new Map<string, ConvertedProvider>()
  readonly #names = new Set<string>()

  get all(): ConvertedProvider[] {
    return [...this.#byContent.values()]
  }

  /** Its name here: `wanted`, or with a number behind it where another provider has that. */
  add(wanted: string, content: Omit<ConvertedProvider, 'name'>): string {
    const key = JSON.stringify(content)
    const known = this.#byContent.get(key)
    if (known !== undefined) return known.name
    const slug = slugOf(wanted)
    let name = slug
    for (let number = 2; this.#names.has(name); number++) {
      const ending = `-${number}`
      name = slug.slice(0, longestSlug - ending.length) + ending
    }
    this.#names.add(name)
    this.#byContent.set(key, { name, ...content })
    return name
  }
}
