import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorCodes, errorTable, fault } from '../../src/core/errors.ts'
import { newId } from '../../src/core/ids.ts'
import type { Lane } from '../../src/lanes/contract.ts'
import { lanes } from '../../src/lanes/index.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { listen } from '../support/listen.ts'
import { recordingFetch } from '../support/recording-fetch.ts'
import { sdkCallers } from '../support/sdk-callers.ts'

// The rows of the error table as each lane renders them, raised by the official SDKs: also those that no request
// can bring about yet.
let server: Server
let code = errorCodes[0] ?? 'internal'
let lane: Lane | undefined
let baseUrl: string

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    const requestId = newId('req')
    if (lane === undefined) return void response.destroy()
    const rendered = lane.renderError(
      fault(code, undefined, code === 'rate_limited' ? { retryAfterMs: 1500 } : {}),
      requestId,
    )
    response.writeHead(rendered.status, [
      ...rendered.headers.flat(),
      ...['x-sp-request-id', requestId, 'x-sp-error', code, 'x-sp-error-origin', errorTable[code].origin],
      ...['x-request-id', requestId, 'request-id', requestId],
    ])
    response.end(rendered.body)
  })
  baseUrl = await listen(server)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe.each(sdkCallers)('$name raises', (sdk) => {
  it.each(errorCodes)('%s', async (row) => {
    code = row
    lane = lanes.find((candidate) => candidate.name === sdk.lane)
    const wire = recordingFetch()
    const failure = await sdk.call(wire, { baseUrl, key: 'sp_live_x', model: 'm' }).then(
      () => null,
      (error: unknown) => error,
    )
    const exchange = wire.last()
    expectLaneError(sdk.lane, { status: exchange.status, headers: exchange.headers, body: await exchange.body }, row)
    expect((failure as Error).constructor.name).toBe(sdk.className(exchange.status))
    expect(failure).toMatchObject({
      status: exchange.status,
      message: expect.stringContaining(fault(row).message.slice(0, 20)),
    })
    if (row === 'rate_limited') expect(exchange.headers.get('retry-after')).toBe('2')
  })
})
