import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../../src/core/cost/model-price.ts'
import type { AnswerReader, Lane } from '../../../src/lanes/contract.ts'
import { openFramer } from '../../../src/lanes/framer.ts'
import { lanes } from '../../../src/lanes/index.ts'
import { emptyInspection } from '../../../src/lanes/request-body.ts'
import { costOf } from '../../../src/policy/prices/cost.ts'

/** Answers as providers write them, with what they cost item by item: the items are counted by hand, not by the code. */
const folder = new URL('../../fixtures/invoices/', import.meta.url)

interface Invoice {
  title: string
  call: string
  /** One is a whole answer, several are the events of a stream. */
  answers: string[]
  items: { count: number; usd: number; each: boolean; nano: number }[]
  total: bigint
}

function readInvoices(text: string): { prices: Map<string, ModelPrice>; invoices: Invoice[] } {
  const [head = '', ...parts] = text.split(/^## /m)
  const given = head.split('\n').filter((line) => line.startsWith('{'))
  const prices = given.map((line) => fillPrice({ ...JSON.parse(line), source: 'set', version: 'v' }))
  return { prices: new Map(prices.map((price) => [price.model, price])), invoices: parts.map(readInvoice) }
}

function readInvoice(part: string): Invoice {
  const [title = '', call = '', ...lines] = part.trimEnd().split('\n')
  const items = lines.flatMap((line) => {
    const found = /^ {2}(\d+) .* at ([\d.]+)( each)? = ([\d.e+]+)$/.exec(line)
    if (found === null) return []
    const [, count, usd, each, nano] = found
    return [{ count: Number(count), usd: Number(usd), each: each !== undefined, nano: Number(nano) }]
  })
  const total = BigInt(/^ {2}total (\d+) nano-dollars$/.exec(lines.at(-1) ?? '')?.[1] ?? -1)
  return { title, call, answers: lines.filter((line) => line.startsWith('{')), items, total }
}

function read(lane: Lane, { call, answers }: Invoice): AnswerReader {
  const [method = '', path = ''] = call.split(' ')
  const match = lane.match(method, path.replace('{model}', 'm'))
  if (match === null) throw new Error(`${lane.name} has no ${call}`)
  const streamed = answers.length > 1
  const framing = streamed ? ('sse' as const) : null
  const reader = match.endpoint.reader(
    { ...emptyInspection('m', ''), streamed, framing },
    { renameTo: null, askForUsage: false },
  )
  if (framing === null) reader.body(Buffer.from(answers[0] ?? ''))
  else for (const event of eventsOf(answers)) reader.event(event)
  return reader
}

function eventsOf(answers: readonly string[]) {
  const text = answers.map((answer) => `event: ${JSON.parse(answer).type}\ndata: ${answer}\n\n`).join('')
  return openFramer('sse').push(Buffer.from(text))
}

const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))

describe.each(files)('the invoices of %s', (file) => {
  const { prices, invoices } = readInvoices(readFileSync(new URL(file, folder), 'utf8'))
  const lane = lanes.find(({ name }) => file === `${name}.txt`)

  it('are of at least twelve shapes of usage', () => {
    expect(invoices.length).toBeGreaterThanOrEqual(12)
  })

  it.each(invoices.map((invoice) => [invoice.title, invoice] as const))('%s', (_title, invoice) => {
    for (const { count, usd, each, nano } of invoice.items)
      expect(count * usd * (each ? 1e9 : 1e3)).toBeCloseTo(nano, 4)
    expect(Math.ceil(Number(invoice.items.reduce((sum, { nano }) => sum + nano, 0).toFixed(6)))).toBe(
      Number(invoice.total),
    )

    const reader = read(lane ?? expect.fail(file), invoice)
    const used = [
      { model: reader.seen().model ?? '', tokens: reader.usage(), detail: reader.usageDetail() },
      ...(reader.beside?.() ?? []),
    ]
    const costs = used.map(
      ({ model = '', ...usage }) => costOf(usage, prices.get(model) ?? expect.fail(`no price of ${model}`)) ?? 0n,
    )
    expect(costs.reduce((sum, cost) => sum + cost)).toBe(invoice.total)
  })
})
