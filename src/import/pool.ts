import { credentialParameters } from '../core/secrets/address-credentials.ts'
import { variablesIn } from '../core/variables.ts'
import { baseUrlProblem } from '../providers/wire/base-url.ts'
import type { ConvertedProvider } from './converted.ts'
import { longestSlug, slugOf, variableOf } from './converted.ts'
import type { Source } from './source.ts'

/** The providers that a conversion comes to: what is the same in all but its name is one. */
export class ProviderPool {
  readonly #byContent = new Map<string, ConvertedProvider>()
  readonly #names = new Set<string>()
  /** Of a name that is taken, the first number that may be free. */
  readonly #numbers = new Map<string, number>()

  /** A base URL that is none becomes a variable: without one the credential would go to the vendor's own server. */
  usable(source: Source): ConvertedProvider[] {
    return [...this.#byContent.values()].map((provider) => {
      const { name, base_url } = provider
      const problem = base_url === undefined || variablesIn(base_url).length > 0 ? null : problemOf(base_url)
      if (problem === null) return provider
      const variable = `${variableOf(name)}_BASE_URL`
      const reason = problem.replace(/\.$/, '')
      source.skip([], `the base URL of ${name}`, reason, `Put the address into the variable ${variable}.`)
      return { ...provider, base_url: `\${${variable}}` }
    })
  }

  /** What the account of a provider, by its name here, may be used for. */
  limit(name: string, limits: Pick<ConvertedProvider, 'rpm' | 'tpm'>): void {
    for (const provider of this.#byContent.values()) if (provider.name === name) Object.assign(provider, limits)
  }

  /** Its name here: `wanted`, or with a number behind it where another provider has that. */
  add(wanted: string, content: Omit<ConvertedProvider, 'name'>): string {
    const key = JSON.stringify(content)
    const known = this.#byContent.get(key)
    if (known !== undefined) return known.name
    const slug = slugOf(wanted)
    let name = slug
    let number = this.#numbers.get(slug) ?? 2
    for (; this.#names.has(name); number++) {
      const ending = `-${number}`
      name = slug.slice(0, longestSlug - ending.length) + ending
    }
    this.#numbers.set(slug, number)
    this.#names.add(name)
    this.#byContent.set(key, { name, ...content })
    return name
  }
}

function problemOf(address: string): string | null {
  const [parameter] = credentialParameters(address)
  if (parameter === undefined) return baseUrlProblem(address)
  return `Leave the parameter ${parameter} out of the base URL; give the credential on its own.`
}
