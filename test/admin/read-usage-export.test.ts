import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readUsageExport } from '../../src/admin/handlers/cost/read-usage-export.ts'

const daysOf = (...days: string[]) =>
  readUsageExport('usage.csv', `date,model,cost\n${days.map((day) => `"${day}",gpt,1\n`).join('')}`).map(
    ({ day }) => day,
  )

/** However a vendor writes the 25th of November 2026 in UTC. */
const written = [
  '2026-11-25',
  '2026-11-25T00:00:00',
  '2026-11-25T23:59:59.999Z',
  '2026-11-25t00:00:00z',
  '2026-11-25 00:00:00',
  '2026-11-25 00:00:00 UTC',
  '2026-11-25 00:00:00+00:00',
  '2026-11-24T20:00:00-05:00',
  '2026-11-26T01:00:00+0200',
  '11/25/2026',
  'Nov 25, 2026',
  ' 2026-11-25 ',
  '1795564800',
  '1795564800000',
]

describe('the days of a usage export', () => {
  it.each(written)('are read from %s', (text) => {
    expect(daysOf(text)).toEqual(['2026-11-25'])
  })

  it('are the same wherever the gateway runs', () => {
    const source = join(import.meta.dirname, '../../src/admin/handlers/cost/read-usage-export.ts')
    const script = `
      const { readUsageExport } = await import(${JSON.stringify(source)})
      const text = 'date,model,cost\\n' + ${JSON.stringify(written)}.map((day) => '"' + day + '",gpt,1\\n').join('')
      console.log(readUsageExport('usage.csv', text).map(({ day }) => day).join(' '))`
    const env = { ...process.env, TZ: 'Pacific/Kiritimati' }
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })
    expect(printed.trim()).toBe(written.map(() => '2026-11-25').join(' '))
  })

  it('are left out where a line is that of the totals, and refused where no line has one', () => {
    expect(daysOf('2026-11-25', 'Total')).toEqual(['2026-11-25'])
    const refused = (...days: string[]) => {
      try {
        return daysOf(...days)
      } catch (error) {
        return error
      }
    }
    expect(refused('25.11.2026')).toMatchObject({
      message: 'usage.csv has no day that can be read, as "25.11.2026".',
      data: { hint: 'Write days as 2026-01-31.' },
    })
    expect(refused('20261125', '20261126')).toMatchObject({ code: 'invalid' })
    expect(refused()).toEqual([])
  })

  it('are read of whatever a file holds, without a fault of another kind', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (day, model) => {
        const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
        try {
          const [read] = readUsageExport('usage.csv', `date,model,cost\n${cell(day)},${cell(model)},1\n`)
          expect(read?.day).toMatch(/^[+-]?\d{4,6}-\d\d-\d\d$/)
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid' })
        }
      }),
    )
  })
})

describe('the figures of a usage export', () => {
  it.each([
    ['1,234', 1234],
    ['$1.50', 1.5],
    [' 12 ', 12],
    ['', null],
    ['n/a', null],
    ['-0.25', -0.25],
  ])('read %s as %s', (text, value) => {
    const [line] = readUsageExport('usage.csv', `date,model,cost\n2026-11-25,gpt,"${text}"\n`)
    expect(line?.usd ?? null).toBe(value)
  })

  it('are sums where a vendor counts parts of the input apart, and nothing where it does not tell', () => {
    const head =
      'usage_date_utc,model_version,usage_input_tokens_no_cache,usage_input_tokens_cache_read,usage_output_tokens'
    const inputs = (head: string, ...lines: string[]) =>
      readUsageExport('a.csv', [head, ...lines].join('\n')).map(({ input, output }) => [input, output])
    expect(inputs(head, '2026-11-25,opus,10,5,7', '2026-11-25,opus,,5,', '2026-11-25,opus,,,')).toEqual([
      [15, 7],
      [5, null],
      [0, null],
    ])
    expect(inputs('date,model,output_tokens', '2026-11-25,opus,7')).toEqual([[null, 7]])
  })
})

it('of another currency is not taken for USD', () => {
  const read = (head: string, line: string) => readUsageExport('a.csv', `date,model,${head}\n2026-11-25,gpt,${line}\n`)
  const refused = { message: 'a.csv has its cost in EUR, not in USD.' }
  expect(() => read('cost,currency', '1,EUR')).toThrow(expect.objectContaining(refused))
  expect(read('amount_value,amount_currency', '1,usd')).toMatchObject([{ usd: 1 }])
  expect(read('output_tokens,currency', '7,EUR')).toMatchObject([{ output: 7, usd: null }])
})

describe('the cost table of Google', () => {
  const sku = (day: string, text: string, amount: string, usd: string) =>
    `${day},Gemini API,AEFD,${text},1,"${amount}",count,${usd},${usd}`
  const lines = [
    sku('2026-11-25', 'Generate content input token count gemini 2.5 flash short input text', '1,000', '0.0003'),
    sku('2026-11-25', 'Generate content cached input token count Gemini 2.5 Flash input text', '200', '0.000015'),
    sku('2026-11-25', 'Generate content output token count gemini 3.1 flash lite preview text', '40', '0.0001'),
    sku('2026-11-25', 'Gemini 2.5 Pro Thinking Text Output - Predictions', '7', '0.07'),
    sku('2026-11-25', 'Grounding with Google Search', '3', '0.105'),
    ',,,,,,,Subtotal,0.2',
  ]
  const head =
    'Service description,Service ID,SKU description,SKU ID,Usage amount,Usage unit,Unrounded subtotal ($),Subtotal ($)'

  it('counts what its SKUs say of a model, also behind lines about the invoice', () => {
    const none = { requests: null, input: null, output: null, day: '2026-11-25' }
    const expected = [
      { ...none, model: 'gemini-2.5-flash', input: 1000, usd: 0.0003 },
      { ...none, model: 'gemini-2.5-flash', input: 200, usd: 0.000015 },
      { ...none, model: 'gemini-3.1-flash-lite-preview', output: 40, usd: 0.0001 },
      { ...none, model: 'gemini-2.5-pro', usd: 0.07 },
      { ...none, model: 'Grounding with Google Search', usd: 0.105 },
    ]
    expect(readUsageExport('a.csv', [`Date,${head}`, ...lines].join('\n'))).toEqual(expected)
    const invoice = ['Invoice number,1', 'Invoice date,2026-11-30', '', `Usage start date,${head}`]
    expect(readUsageExport('a.csv', [...invoice, ...lines].join('\r\n'))).toEqual(expected)
  })

  it('is refused in another currency', () => {
    const text = `Date,${head.replaceAll('$', '€')}\n${lines[0]}`
    expect(() => readUsageExport('a.csv', text)).toThrow('a.csv has its cost in €, not in USD.')
  })
})

describe('a usage export that cannot be trusted', () => {
  const read = (...lines: string[]) => readUsageExport('a.csv', lines.join('\r\n'))

  it.each([
    ['date;model;requests', '2026-11-25;gpt;0,5', 'a.csv is separated by ;, not by commas.'],
    ['date\tmodel\trequests', '2026-11-25\tgpt\t5', 'a.csv is separated by tabs, not by commas.'],
    ['date,model,requests', '2026-11-25,"gpt,5', 'a.csv has a quotation mark that is never closed.'],
    ['date,model,requests', '2026-11-25,gpt,NaN', 'a.csv, line 2: requests is "NaN", which is no number.'],
    ['date,model,cost_usd', '2026-11-25,gpt,"1.234,56"', 'a.csv, line 2: cost_usd is "1.234,56", which is no number.'],
    ['date,model,cost_usd', '2026-11-25,gpt,1e300', 'a.csv, line 2: cost_usd is "1e300", which is too much.'],
    ['date,model,requests', '2026-11-25,gpt,1e400', 'a.csv, line 2: requests is "1e400", which is too much.'],
    [
      'day,model,requests',
      '2026-11-25,gpt,1000000000000001',
      'a.csv, line 2: requests is "1000000000000001", which is too much.',
    ],
    ['Model,requests', 'gpt,1', 'a.csv has no column for the day.'],
    ['date,requests', '2026-11-25,1', 'a.csv has no column for the model.'],
    ['date,model', '2026-11-25,gpt', 'a.csv has no column for tokens or cost.'],
    ['date,model,requests', '2026-02-30,gpt,1', 'a.csv has no day that can be read, as "2026-02-30".'],
    ['date,model,requests', '0000-00-00,gpt,1', 'a.csv has no day that can be read, as "0000-00-00".'],
  ])('is refused with its place: %s / %s', (head, line, message) => {
    expect(() => read(head, line)).toThrow(message)
  })

  it('has numbers as programs write them, and nothing where there is none', () => {
    const head = 'date,model,cost_usd'
    const costs = ['5', '"1,234.56"', '$0.02', '-$1.50', '1.5e-7', '.5', '', '-', 'n/a'].map(
      (cost) => read(head, `2026-11-25,gpt,${cost}`)[0]?.usd,
    )
    expect(costs).toEqual([5, 1234.56, 0.02, -1.5, 1.5e-7, 0.5, null, null, null])
  })
})
