import { ORPCError } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import { errorStatus } from '../../src/admin/contract/error-status.ts'
import { conflict, invalid, notFound, refused, translateFault } from '../../src/admin/handlers/fault.ts'
import { SealBroken } from '../../src/sealing/seal-error.ts'
import {
  StoreBehind,
  StoreConflict,
  StoreDegraded,
  StoreOwned,
  StoreReadOnly,
  StoreStopped,
} from '../../src/store/store-error.ts'

const told = (error: unknown) => {
  const fault = translateFault(error)
  return fault === null ? null : { code: fault.code, status: fault.status, message: fault.message, ...fault.data }
}

describe('what another room throws', () => {
  it.each([
    [new StoreConflict('a key ci exists already'), 'conflict', 'A key ci exists already.', 'Choose another name.'],
    [new StoreConflict('the provider p is used by 2 routes'), 'conflict', null, 'Change or remove what uses it first.'],
    [new StoreConflict('it was changed'), 'conflict', 'It was changed.', 'Refresh and try again.'],
    [new StoreConflict('it is so', 'Do that.'), 'conflict', 'It is so.', 'Do that.'],
    [new StoreOwned('owned by a file'), 'refused', 'Owned by a file.', null],
    [new StoreStopped('the read was cancelled'), 'refused', 'The read was cancelled.', 'Ask again.'],
    [new StoreReadOnly('PostgreSQL was not reached'), 'degraded', 'PostgreSQL was not reached.', null],
    [
      new StoreReadOnly('the configuration is read-only: this node was removed from the cluster'),
      'degraded',
      'The configuration is read-only: this node was removed from the cluster.',
      'Make the change on another node. Stop this one, or let it continue alone: spgw cluster leave',
    ],
    [new StoreDegraded('the disk is full!'), 'degraded', 'The disk is full!', null],
  ])('%s is an error of the operation', (error, code, message, hint) => {
    const fault = told(error)
    expect(fault).toMatchObject({ code, status: errorStatus[code as keyof typeof errorStatus] })
    if (message !== null) expect(fault?.message).toBe(message)
    if (hint !== null) expect(fault?.hint).toBe(hint)
    expect(fault?.hint).not.toBe('')
  })

  it('of a reader that is too slow has a word for programs', () => {
    expect(told(new StoreBehind('more than 1000 requests wait'))).toMatchObject({ code: 'degraded', reason: 'behind' })
  })

  it('of the seal keeps its own hint', () => {
    const broken = new SealBroken('it does not open', 'Enter it again.')
    expect(told(broken)).toMatchObject({ code: 'refused', message: 'it does not open', hint: 'Enter it again.' })
  })

  it.each([
    ['ENOSPC', 'The disk is full (ENOSPC).'],
    ['EROFS', 'The file system is read-only (EROFS).'],
  ])('of a file that could not be written says why: %s', (code, message) => {
    const error = Object.assign(new Error(`${code}: /secret/path`), { code })
    expect(told(error)).toMatchObject({ code: 'degraded', message, hint: expect.stringContaining('try again') })
  })

  it('is a fault of our own where nobody knows it', () => {
    for (const error of [new Error('a bug'), new TypeError('x is undefined'), 'a text', null, undefined])
      expect(translateFault(error)).toBeNull()
  })

  it('is passed on where it is an error of an operation already', () => {
    for (const error of [invalid('A.', 'B.'), refused('A.', 'B.'), conflict('A.', 'B.'), notFound('key', 'ci', 'B.')])
      expect(translateFault(error)).toBe(error)
    expect(notFound('key', 'a"b', '').message).toBe('There is no key "a\\"b".')
  })
})

describe('input that the contract does not take', () => {
  const input = (...issues: object[]) => told(new ORPCError('BAD_REQUEST', { message: 'no', data: { issues } }))

  it('is told field by field, for people and for forms, and never with what was in it', () => {
    const fault = input(
      { message: 'Invalid input: expected string, received undefined', path: ['name'] },
      { message: 'Too small', path: [{ key: 'targets' }, 0, 'weight'] },
    )
    expect(fault).toMatchObject({
      code: 'invalid',
      status: errorStatus.invalid,
      message: 'Name is missing; targets.0.weight: Too small.',
      fields: { name: 'Required.', targets: 'Too small.' },
    })
  })

  it('of no field has a message alone', () => {
    expect(input({ message: 'give either one or the other' })).toMatchObject({
      ...{ message: 'Give either one or the other.', fields: {} },
    })
    expect(input({ message: 'give one', path: [] })).toMatchObject({ fields: {} })
  })

  it.each([[undefined], [null], ['text'], [{}], [{ issues: 'none' }], [{ issues: [] }]])(
    'is told also where nothing more is known: %j',
    (data) => {
      expect(told(new ORPCError('BAD_REQUEST', { message: 'the body is no JSON', data }))).toMatchObject({
        ...{ code: 'invalid', message: 'The body is no JSON.', fields: {} },
      })
    },
  )
})
