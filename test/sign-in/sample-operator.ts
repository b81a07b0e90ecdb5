import { newId } from '../../src/core/ids.ts'
import { hashPassword } from '../../src/sign-in/password-hash.ts'
import type { Operator } from '../../src/store/operators/operator-tables.ts'

export const password = 'correct horse battery'

/** One for all: hashing is slow, as it should be. */
const hash = hashPassword(password)

/** An owner with that password. */
export async function sampleOperator(name: string, change: Partial<Operator> = {}): Promise<Operator> {
  return {
    id: newId('opr'),
    name,
    displayName: name,
    state: 'active',
    passwordHash: await hash,
    totpSealed: null,
    oidcIssuer: null,
    oidcSubject: null,
    grants: [{ project: null, role: 'owner' }],
    createdAt: new Date().toISOString(),
    lastSignInAt: null,
    ...change,
  }
}
