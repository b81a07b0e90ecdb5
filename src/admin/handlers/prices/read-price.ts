import type { z } from 'zod'
import { errorText } from '../../../core/caught.ts'
import { fillPrice, type ModelPrice, priceVariants, type TokenRates } from '../../../core/cost/model-price.ts'
import { ratePaths } from '../../../core/cost/rate-paths.ts'
import { asObject, asText } from '../../../core/json/json-value.ts'
import type { givenPrice } from '../../contract/prices/price-fields.ts'
import { invalid } from '../fault.ts'
import { checkRates, hasRate } from './check-rates.ts'

/** Prices of one file, several times the shipped ones. More is a mistake, and would stop the gateway's control plane for a while. */
const mostPrices = 10_000

type GivenPrice = Record<string, unknown> & { model: string; force: boolean }

/** The price that the fields of `prices set` describe. */
export function readPrice(input: GivenPrice, provider: string | null, version: string): ModelPrice {
  let price = fillPrice({ model: input.model, provider, source: 'set', version })
  for (const [name, path] of Object.entries(ratePaths)) {
    const rate = input[name]
    if (typeof rate === 'number') price = withRate(price, path, rate) as ModelPrice
  }
  addLongContext(price, input.longContextOver)
  price.per_image = readImages(input.perImage)
  price.geo = readGeo(input.geo)
  price.max_input = typeof input.maxInput === 'number' ? input.maxInput : null
  price.max_output = typeof input.maxOutput === 'number' ? input.maxOutput : null
  if (price.per_image === null && Object.keys(ratePaths).every((name) => input[name] === undefined))
    throw invalid(
      'A price needs at least one rate.',
      `For example: spgw prices set ${input.model} --input 0.5 --output 1.5`,
    )
  checkRates(price, input.force)
  return price
}

function withRate(table: object, [first = '', ...rest]: readonly string[], rate: number): object {
  return { ...table, [first]: rest.length === 0 ? rate : withRate({ ...Reflect.get(table, first) }, rest, rate) }
}

function addLongContext(price: ModelPrice, over: unknown): void {
  const rates: Partial<TokenRates> = { ...price.long_context }
  const hasRates = Object.keys(rates).length > 0 || priceVariants.some((name) => price[name]?.long_context)
  if (hasRates !== (typeof over === 'number'))
    throw invalid(
      'Long-context rates and their limit belong together.',
      'Give --long-context-over and --long-context-input.',
    )
  if (typeof over === 'number') price.long_context = { ...rates, over }
}

/** `0.04`, or `1024x1024/high=0.167`. */
function readImages(given: unknown): Record<string, number> | null {
  if (!Array.isArray(given) || given.length === 0) return null
  const pairs = given.map((text): [string, number] => {
    const [, size = '*', usd = ''] = /^(?:([^=]+)=)?([0-9.]+)$/.exec(String(text)) ?? []
    const rate = Number(usd)
    if (usd === '' || !Number.isFinite(rate))
      throw invalid(`--per-image cannot be ${text}.`, 'Write it as 0.04 or as 1024x1024/high=0.167.')
    return [size, rate]
  })
  return Object.fromEntries(pairs)
}

/** `us=1.1`. */
function readGeo(given: unknown): Record<string, number> | null {
  if (!Array.isArray(given) || given.length === 0) return null
  const pairs = given.map((text): [string, number] => {
    const [, place = '', times = ''] = /^([\w-]+)=([0-9.]+)$/.exec(String(text)) ?? []
    const factor = Number(times)
    if (!(factor >= 0.1 && factor <= 10))
      throw invalid(`--geo cannot be ${text}.`, 'Write it as us=1.1: a place, and a factor between 0.1 and 10.')
    return [place.toLowerCase(), factor]
  })
  return Object.fromEntries(pairs)
}

/** What `prices show --json` prints, one or a list, of each file. */
export function readGivenPrices(files: Record<string, string>, shape: typeof givenPrice): z.infer<typeof givenPrice>[] {
  const given = Object.entries(files).flatMap(([file, text]) => {
    const parsed = parsePrices(file, text)
    const list: unknown[] = Array.isArray(parsed) ? parsed : [parsed]
    if (list.length > mostPrices) throw invalid(`${file} has more than ${mostPrices} prices.`, 'Split the file.')
    const read = list.map((entry, index) => {
      const checked = shape.safeParse(entry)
      if (checked.success) return checked.data
      const [issue] = checked.error.issues
      if (asText(asObject(entry)?.model) === null)
        throw invalid(
          `${file}, price ${index + 1}: it names no model.`,
          'A file has one price or a list of them, each as `spgw prices show MODEL --json` prints it.',
        )
      const place = [index + 1, ...(issue?.path ?? [])].join('.')
      throw invalid(
        `${file}, price ${place}: ${issue?.message ?? 'is not a price'}.`,
        'Compare it with: spgw prices show MODEL --json',
      )
    })
    for (const [index, price] of read.entries())
      if (!hasRate(price))
        throw invalid(`${file}, price ${index + 1}: that of ${price.model} has no rate.`, 'A price needs at least one.')
    return read
  })
  if (given.length === 0) throw invalid('There is no price in the file.', 'Compare it with: spgw prices list --json')
  return given
}

export function parsePrices(file: string, text: string): unknown {
  try {
    // As editors of Windows begin a file.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const reason = errorText(error)
    throw invalid(`${file} is not JSON: ${reason}`, 'Compare it with: spgw prices list --json')
  }
}
