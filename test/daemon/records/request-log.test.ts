import { expect, it } from 'vitest'
import type { RequestRecord } from '../../../src/core/record.ts'
import { RequestLog } from '../../../src/daemon/records/request-log.ts'
import { sampleRecord } from '../../support/sample-record.ts'

it('writes one line of JSON a request while it is on', () => {
  const listeners = new Set<(records: RequestRecord[]) => void>()
  const onRecords = (listener: (records: RequestRecord[]) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  let written = ''
  const log = new RequestLog({ onRecords }, (line) => (written += line))
  log.change(false)
  expect(listeners.size).toBe(0)
  log.change(true)
  log.change(true)
  const record = sampleRecord({ method: 'POST', path: '/v1/chat/completions', model: 'a\nb' })
  for (const listener of listeners) listener([record, sampleRecord()])
  const lines = written.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  const { id, time, key, tokens, client } = record
  const line: unknown = JSON.parse(lines[0] ?? '')
  expect(line).toMatchObject({ time, level: 'info', message: 'request', id, key, tokens, client, attempts: 0 })
  expect(line).toMatchObject({ method: 'POST', path: '/v1/chat/completions', model: 'a\nb', status: 200, error: null })
  expect(line).not.toHaveProperty('timeline')
  log.change(false)
  expect(listeners.size).toBe(0)
})
