import { expect, it } from 'vitest'
import { reportRestored } from '../../../src/daemon/backup/run-restore.ts'

it('says one of a thing as one', () => {
  const report = reportRestored({
    data_directory: '/var/lib/spgw',
    created_at: '2026-11-30T12:00:00.000Z',
    schema: '0034-removal-clock',
    providers: 1,
    keys: 1,
    records: 2,
    credentials: 0,
    set_aside: null,
  })
  expect(report).toContain('1 provider, 0 credentials, 1 key, 2 records.')
})
