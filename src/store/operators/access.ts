import type { StoreTables } from '../api.ts'

/**
 * How each method runs: `write` in a transaction that takes the lock, together with its audit line; `read` in one
 * that sees a single state; `paged` in none, reading window by window so that others get their turn.
 */
export type Access = 'read' | 'write' | 'paged'

export const storeAccess: { [Name in keyof StoreTables]: Record<keyof StoreTables[Name], Access> } = {
  workspace: { get: 'read', update: 'write' },
  projects: { list: 'read', names: 'read', find: 'read', insert: 'write', update: 'write', remove: 'write' },
  environments: { list: 'read', find: 'read', insert: 'write', update: 'write', remove: 'write' },
  providers: {
    list: 'read',
    find: 'read',
    insert: 'write',
    update: 'write',
    setReadiness: 'write',
    noteShown: 'write',
    states: 'read',
    revisions: 'read',
    addRevision: 'write',
    activateRevision: 'write',
    remove: 'write',
  },
  routes: { list: 'read', find: 'read', insert: 'write', update: 'write', remove: 'write' },
  keys: { list: 'read', find: 'read', insert: 'write', update: 'write', touch: 'write', remove: 'write' },
  policies: { list: 'read', find: 'read', insert: 'write', update: 'write', remove: 'write' },
  prices: { list: 'read', table: 'read', put: 'write', remove: 'write', setTable: 'write' },
  spend: { list: 'read' },
  ownership: { list: 'read' },
  configuration: { read: 'read', write: 'write' },
  audit: { list: 'read', get: 'read', verify: 'paged', note: 'write' },
  objects: { list: 'read', insert: 'write', remove: 'write' },
  records: {
    list: 'paged',
    get: 'read',
    stats: 'paged',
    usage: 'paged',
    series: 'paged',
    targets: 'paged',
    attemptSeries: 'paged',
    attempts: 'paged',
    reprice: 'write',
  },
  bodies: { find: 'read', key: 'read', setKey: 'write' },
  seal: {
    sealed: 'read',
    everything: 'read',
    replace: 'write',
    makeDurable: 'paged',
    witness: 'read',
    setWitness: 'write',
    recovery: 'read',
    setRecovery: 'write',
  },
  operators: {
    list: 'read',
    find: 'read',
    findBySubject: 'read',
    insert: 'write',
    update: 'write',
    takeTotpStep: 'write',
    reset: 'write',
    remove: 'write',
  },
  tokens: {
    list: 'read',
    find: 'read',
    findByHash: 'read',
    insert: 'write',
    revoke: 'write',
    touch: 'write',
    remove: 'write',
  },
  sessions: { find: 'read', list: 'read', insert: 'write', touch: 'write', revoke: 'write' },
  links: { insert: 'write', take: 'write' },
  passkeys: { list: 'read', findByCredential: 'read', insert: 'write', noteUse: 'write', remove: 'write' },
}
