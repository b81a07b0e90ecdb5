import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ModelPrice, TokenRateName } from '../../src/core/cost/model-price.ts'

/** genai-prices' provider → the vendor as this gateway names it. The other vendors are in one of the two sources only. */
const vendors: Record<string, string> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'gemini',
  azure: 'azure-openai',
  aws: 'bedrock',
  groq: 'groq',
  mistral: 'mistral',
  deepseek: 'deepseek',
  'x-ai': 'xai',
  moonshotai: 'moonshot',
  perplexity: 'perplexity',
  fireworks: 'fireworks',
  together: 'together',
  cerebras: 'cerebras',
  openrouter: 'openrouter',
}

const members: Partial<Record<TokenRateName, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  audio_input: 'input_audio_mtok',
  audio_output: 'output_audio_mtok',
  audio_cache_read: 'cache_audio_read_mtok',
  image_input: 'input_image_mtok',
  image_output: 'output_image_mtok',
}

type Match = { [Rule in 'equals' | 'starts_with' | 'ends_with' | 'contains' | 'regex']?: string } & {
  or?: Match[]
  and?: Match[]
}
type Tiered = number | { base: number; tiers: { start: number; price: number }[] }
type Rates = Record<string, Tiered | undefined>
interface Conditional {
  constraint?: { type: string; start_date?: string }
  prices: Rates
}
interface Model {
  match: Match
  prices: Rates | Conditional[]
}
interface GenaiPrices {
  findProvider(options: { providerId: string }): { models: Model[] } | undefined
}

export interface Comparison {
  /** Models that both sources price. */
  compared: number
  differences: Difference[]
}

export interface Difference {
  vendor: string
  model: string
  rate: string
  /** USD per million. */
  ours: number
  theirs: number
}

/**
 * Compares a table with the prices in `@pydantic/genai-prices`, of which `file` is the module (`dist/index.js`). A rate that only
 * one of the two has is no difference.
 */
export async function compareWithGenaiPrices(
  prices: readonly ModelPrice[],
  file: string,
  date: string,
): Promise<Comparison> {
  const genai = (await import(pathToFileURL(resolve(file)).href)) as GenaiPrices
  const models = new Map<string, readonly Model[]>()
  for (const [theirs, ours] of Object.entries(vendors))
    models.set(ours, genai.findProvider({ providerId: theirs })?.models ?? [])
  const pairs = prices.flatMap((price) => {
    const model = models.get(price.vendor ?? '')?.find(({ match }) => matches(match, price.model.toLowerCase()))
    return model === undefined ? [] : [{ price, rates: ratesAt(model, date) }]
  })
  return { compared: pairs.length, differences: pairs.flatMap(({ price, rates }) => differencesOf(price, rates)) }
}

function matches(match: Match, name: string): boolean {
  if (match.or !== undefined) return match.or.some((each) => matches(each, name))
  if (match.and !== undefined) return match.and.every((each) => matches(each, name))
  if (match.equals !== undefined) return name === match.equals
  if (match.starts_with !== undefined) return name.startsWith(match.starts_with)
  if (match.ends_with !== undefined) return name.endsWith(match.ends_with)
  if (match.contains !== undefined) return name.includes(match.contains)
  return match.regex !== undefined && new RegExp(match.regex).test(name)
}

/** The last rates that had begun by then; those of a time of day are left out. */
function ratesAt({ prices }: Model, date: string): Rates {
  if (!Array.isArray(prices)) return prices
  const begun = prices.filter(({ constraint }) => constraint === undefined || (constraint.start_date ?? '9999') <= date)
  return begun.at(-1)?.prices ?? {}
}

function differencesOf(price: ModelPrice, rates: Rates): Difference[] {
  return (Object.entries(members) as [TokenRateName, string][]).flatMap(([name, member]) => {
    const theirs = rates[member]
    if (theirs === undefined) return []
    const long = typeof theirs === 'number' ? undefined : theirs.tiers[0]?.price
    const base = typeof theirs === 'number' ? theirs : theirs.base
    const { vendor, model } = price
    const pairs = [
      { rate: name, ours: price[name], theirs: base },
      { rate: `${name}, long context`, ours: price.long_context?.[name], theirs: long ?? base },
    ]
    return pairs.flatMap(({ rate, ours, theirs }) =>
      ours === null || ours === undefined || Math.abs(ours - theirs) <= theirs * 1e-6
        ? []
        : [{ vendor: vendor ?? '', model, rate, ours, theirs }],
    )
  })
}

/** The page that lists them, a line for each model. */
export function differencesPage({ compared, differences }: Comparison, version: string, source: string): string {
  const byModel = Map.groupBy(differences, ({ vendor, model }) => `| ${vendor} | \`${model}\` |`)
  const rows = [...byModel].map(
    ([model, found]) => `${model} ${found.map(({ rate, ours, theirs }) => `${rate} ${ours} (${theirs})`).join('; ')} |`,
  )
  return `# Where two sources of prices differ

The table that ships (${version}) comes from LiteLLM's price file. It was compared with the other maintained source,
${source}. Both price ${compared} models, and agree on ${compared - byModel.size} of them in every
rate that both have. The others are listed: USD per million tokens in the shipped table, and in brackets what the other
source says. Most differences are regions of a cloud, which the other source does not tell apart, and prices that have
changed lately. \`spgw prices set MODEL\` replaces a price ([all commands](reference/cli.md)).

Written by \`npm run prices -- --check FILE\`.

| vendor | model | shipped (other source) |
|---|---|---|
${rows.join('\n')}
`
}
