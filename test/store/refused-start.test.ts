import { expect, it } from 'vitest'
import { refuseToStart } from '../../src/store/store-error.ts'

it.each([
  ['ENOSPC', 'ENOSPC: no space left on device, write', /^Free some space/],
  ['ERR_DLOPEN_FAILED', '/data/native/x.node: failed to map segment from shared object', /without noexec/],
])('a start that failed with %s says what to do', (code, message, hint) => {
  expect(refuseToStart('/data/spgw.lock', Object.assign(new Error(message), { code })).hint).toMatch(hint)
})
