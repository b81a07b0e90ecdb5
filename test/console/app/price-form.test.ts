import { expect, it } from 'vitest'
import { priceShape } from '../../../src/admin/contract/prices/price-fields.ts'
import { readPrice } from '../../../src/admin/handlers/prices/read-price.ts'
import { fieldsOfPrice } from '../../../src/console/app/areas/settings/price-form.ts'
import {
  fillPrice,
  priceVariants,
  type TokenRates,
  tokenRateNames,
  unitRateNames,
} from '../../../src/core/cost/model-price.ts'

/** Setting a price writes the whole of it: a rate that the form forgets is gone. */
it('a price that is edited and not changed stays as it is, to its last rate', () => {
  let rate = 0
  const rates = () => Object.fromEntries(tokenRateNames.map((name) => [name, ++rate])) as TokenRates
  const price = fillPrice({
    ...{ model: 'house-model', provider: 'azure-eu', source: 'set', version: 'v' },
    ...rates(),
    ...Object.fromEntries(unitRateNames.map((name) => [name, ++rate])),
    ...Object.fromEntries(priceVariants.map((variant) => [variant, { ...rates(), long_context: rates() }])),
    long_context: { over: 200_000, ...rates() },
    per_image: { '*': 0.04, '1024x1024/high': 0.167 },
    ...{ max_input: 200_000, max_output: 64_000 },
  })
  const { provider, ...fields } = fieldsOfPrice(priceShape.parse(price))
  expect(provider).toBe('azure-eu')
  expect(readPrice({ model: '', force: false, ...fields }, 'azure-eu', 'v')).toEqual(price)
})

it('a price of few rates has fields for no others', () => {
  const price = fillPrice({ model: 'm', source: 'set', version: 'v', input: 0, output: 2 })
  expect(fieldsOfPrice(priceShape.parse(price))).toEqual({ model: 'm', input: 0, output: 2 })
})
