import { expect, it } from 'vitest'
import { exitStatus, reportFault } from '../../cli/fault.ts'
import { SocketForbidden } from '../../src/admin/client-fault.ts'

const ofSystem = (code: string) => Object.assign(new Error(`${code}: no, open '/d/spgw.db'`), { code })

it.each([
  [ofSystem('EACCES'), exitStatus.failed, /as the owner of the file/],
  [ofSystem('ENOSPC'), exitStatus.failed, /free some space/],
  [ofSystem('ENOENT'), exitStatus.failed, /Check the path/],
  [ofSystem('EINVAL'), exitStatus.failed, /--verbose/],
  [new SocketForbidden('/d/admin.sock', null), exitStatus.refused, /admin\.socket_group/],
  [new Error('two\nlines'), exitStatus.failed, /--verbose/],
])('says what to do about %s', (error, status, hint) => {
  const report = reportFault(error)
  expect(report.status).toBe(status)
  expect(report.hint).toMatch(hint)
  expect(report.cause).not.toContain('\n')
})

it('names each cause that the gateway answered with', () => {
  const answered = Object.assign(new Error('one\ntwo\nthree'), {
    code: 'refused',
    status: 409,
    data: { hint: 'Fix them.' },
  })
  expect(reportFault(answered)).toMatchObject({ cause: 'one', otherCauses: ['two', 'three'], hint: 'Fix them.' })
})
