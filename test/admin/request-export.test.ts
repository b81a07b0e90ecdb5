import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { StoreDegraded } from '../../src/store/store-error.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { journal, refusal, startTestGateway, type TestGateway } from './gateway.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

function at(index: number, change: Partial<RequestRecord> = {}): RequestRecord {
  const time = start + index * 1000
  return sampleRecord({ id: newId('req', time), time: new Date(time).toISOString(), ...change })
}

async function read({ client }: TestGateway, input: Parameters<TestGateway['client']['requests']['export']>[0]) {
  const parts: Buffer[] = []
  const totals: (number | null)[] = []
  let begin: object = {}
  let sha256 = ''
  let missing: string | undefined
  for await (const event of await client.requests.export(input)) {
    if (event.kind === 'begin') begin = event
    else if (event.kind === 'bytes') parts.push(Buffer.from(event.base64, 'base64'))
    else if (event.kind === 'progress') totals.push(event.total)
    else ({ sha256, missing } = event)
  }
  const whole = Buffer.concat(parts)
  expect(createHash('sha256').update(whole).digest('hex')).toBe(sha256)
  return { begin, text: whole.toString(), bytes: whole.length, totals, missing }
}

describe('requests.export', () => {
  it('ends at its limit, within a page and beyond one', async () => {
    const gateway = await startTestGateway()
    const records = Array.from({ length: 450 }, (_, index) => at(index))
    journal(gateway, ...records)
    for (const limit of [1, 200, 201, 449, 1000]) {
      const { begin, text } = await read(gateway, { limit })
      const wanted = Math.min(limit, 450)
      expect(begin).toMatchObject({ summary: { records: wanted } })
      expect(text.trimEnd().split('\n')).toHaveLength(wanted)
    }
  })

  it('says at its end where a page was not of all nodes, also once that is over', async () => {
    const gateway = await startTestGateway()
    journal(gateway, ...Array.from({ length: 250 }, (_, index) => at(index)))
    expect((await read(gateway, {})).missing).toBeUndefined()
    const { runtime } = gateway.parts
    const since = '2026-01-02T03:04:05.000Z'
    runtime.degraded = vi.fn(() => [])
    vi.mocked(runtime.degraded).mockImplementation(() => {
      // Before the stream, and with its first page: the second is of all nodes again.
      const isApart = vi.mocked(runtime.degraded).mock.calls.length === 2
      return isApart ? [{ part: 'records', since, reason: 'refused' }] : []
    })
    expect((await read(gateway, {})).missing).toMatch(/^Requests of this node only, since 03:04 UTC/)
  })

  it('gives every record that matches, newest first, page by page', async () => {
    const gateway = await startTestGateway()
    const records = Array.from({ length: 450 }, (_, index) => at(index, { model: index % 9 === 0 ? 'other' : 'usual' }))
    journal(gateway, ...records)
    const { begin, text, bytes, totals } = await read(gateway, { model: 'usual' })
    expect(begin).toEqual({ kind: 'begin', bytes: null, summary: { format: 'jsonl', records: 400 } })
    const found = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RequestRecord)
    expect(found).toEqual(records.filter(({ model }) => model === 'usual').reverse())
    expect(totals.at(-1)).toBe(bytes)
  })

  it('asks for no page before the one before is taken', async () => {
    const gateway = await startTestGateway()
    journal(gateway, ...Array.from({ length: 450 }, (_, index) => at(index)))
    const list = vi.spyOn(gateway.parts.store.records, 'list')
    const { exportRequests } = await import('../../src/admin/handlers/requests/export-requests.ts')
    const caller = { name: 'test', surface: 'api' as const, id: null, grants: [] }
    const scope = { seen: null, able: null, refuse: () => new Error('refused') }
    const context = { ...gateway.parts, caller, closing: new AbortController().signal, scope }
    const events = exportRequests(context, { format: 'jsonl' })
    expect((await events.next()).value).toMatchObject({ kind: 'begin' })
    expect(list).not.toHaveBeenCalled()
    expect((await events.next()).value).toMatchObject({ kind: 'bytes' })
    expect(list).toHaveBeenCalledTimes(1)
    await events.return(undefined)
    expect(list).toHaveBeenCalledTimes(1)
  })

  it('gives a table with stable columns, in which nothing a client wrote is a formula', async () => {
    const gateway = await startTestGateway()
    journal(
      gateway,
      at(0, {
        model: '=HYPERLINK("http://evil")',
        client: { address: '127.0.0.1', user_agent: 'a, "b"\nc' },
        tags: { team: 'x' },
        key: null,
        tokens: null,
        cost: null,
      }),
    )
    const { text } = await read(gateway, { format: 'csv' })
    await expect(text.split('\n')[0]).toMatchInlineSnapshot(
      `"id,time,state,lane,operation,project,environment,key_id,key_name,model,route,provider,upstream_model,status,error_code,error_origin,error_message,streamed,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,token_source,usd,price_version,duration_ms,first_byte_ms,attempts,request_bytes,response_bytes,client_address,client_user_agent,provider_request_id,tags,method,path,usage_detail,estimate_error,shadow_of,trace_id,node"`,
    )
    const row = text.slice(text.indexOf('\n') + 1)
    expect(row.slice(row.indexOf(',') + 1)).toBe(
      `2026-03-01T12:00:00.000Z,settled,openai,chat.completions,default,production,,,"'=HYPERLINK(""http://evil"")",gpt-4o-mini,openai,gpt-4o-mini,200,,,,true,,,,,,,,,100,50,0,100,200,127.0.0.1,"a, ""b""\nc",,"{""team"":""x""}",,,,,,,\n`,
    )
  })
})

it('says why the records cannot be read', async () => {
  const gateway = await startTestGateway()
  vi.spyOn(gateway.parts.runtime, 'ingest').mockRejectedValue(new StoreDegraded('the disk is full (SQLITE_FULL)'))
  expect(await refusal(read(gateway, {}))).toMatchObject({
    code: 'degraded',
    message: 'The disk is full (SQLITE_FULL).',
    hint: 'Requests are still served. For details: spgw status',
  })
  expect(gateway.faults).toEqual([])
})

it('and tells the log alone of a fault of the gateway itself', async () => {
  const gateway = await startTestGateway()
  const fault = new Error('anything')
  vi.spyOn(gateway.parts.runtime, 'ingest').mockRejectedValue(fault)
  expect(await refusal(read(gateway, {}))).toMatchObject({ message: 'The gateway had an internal error.' })
  expect(gateway.faults).toEqual([fault])
})

it('refuses to replay what nobody has kept, and says what to do', async () => {
  const gateway = await startTestGateway()
  const record = at(0)
  journal(gateway, record)
  const replay = async (id: string) => {
    for await (const _ of await gateway.client.requests.replay({ id })) throw new Error('something was sent')
  }
  expect(await refusal(replay(record.id))).toMatchObject({
    code: 'refused',
    message: `${record.id} cannot be sent again. No policy captured the bodies.`,
  })
  expect(await refusal(replay('req_unknown'))).toMatchObject({ code: 'not_found' })
})
