import { randomBytes } from 'node:crypto'
import { errorText } from '../core/caught.ts'
import { reachFaultPoint } from '../core/fault-point.ts'
import { idTime, newId } from '../core/ids.ts'
import type { BookedAmount } from '../core/journal-format.ts'
import { Secret } from '../core/secrets/secret.ts'
import { answerJoiner, type HandOver, makeJoiner, mintInviteSecret, writeNextKey } from '../sealing/hand-over.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { installNextKey } from '../sealing/next-key.ts'
import type { StoreClient } from '../store/api.ts'
import { idAt } from '../store/records/id-time.ts'
import { objectHistoryStart } from '../store/replica/object-history.ts'
import type { SharedPage } from '../store/replica/shared-change.ts'
import { StoreConflict, StoreMoved, StoreReadOnly } from '../store/store-error.ts'
import type { ClusterNode } from './node.ts'
import type { OwnRecords } from './protocol.ts'

const inviteMinutes = 10
/** Changes by the gateway itself (a provider that is ready again) are not held up, so founding may have to be repeated. */
const uploadTries = 5
const askForInvitation = 'An invitation admits one node, for ten minutes. On a node of the cluster: spgw cluster invite'
const lookForJoinsMs = 250
const answerWaitMs = 20_000
const tokenForm = /^sp_join_(clu_[0-9a-z]+)\.([\w-]+)\.([\w-]{43})$/

export interface MembershipParts {
  node: ClusterNode
  store: StoreClient
  keyring: Keyring
  /** `cluster.node`. */
  name: string
  dataDirectory: string
  publish(): Promise<void>
  /** Before this node leaves: returns the unused part of its budgets. */
  releaseBudgets(): Promise<void>
  /** Counts spending that the store has already loaded. */
  takeSpent(spent: readonly BookedAmount[]): void
}

/** How a gateway joins and leaves a cluster. */
export class Membership {
  readonly #parts: MembershipParts
  /** This node's open invitations by name. Only in memory: a restart ends them. */
  readonly #invites = new Map<string, { secret: Secret; until: number }>()
  #looking: NodeJS.Timeout | null = null
  #changing: Promise<unknown> = Promise.resolve()

  constructor(parts: MembershipParts) {
    this.#parts = parts
  }

  /** Founds a cluster from everything that this node has. Changes that arrive meanwhile wait. */
  found(): Promise<string> {
    return this.#oneAtATime(async () => {
      const { store, name } = this.#parts
      this.#refuseMember()
      await this.#refuseOthers()
      const [cluster, member] = [newId('clu'), newId('nod')]
      const gate = Promise.withResolvers<void>()
      store.share(async (call) => {
        await gate.promise
        const { table, method, input, audit } = call
        // Runs as the call will run for the cluster: only the store knows who the caller is.
        const tables: object = (audit === null ? store : store.audited(audit))[table as 'keys']
        return await (tables as Record<string, (...input: unknown[]) => Promise<unknown>>)[method]?.(...input)
      })
      try {
        for (let left = uploadTries - 1; !(await this.#upload(cluster, member, name)); left--)
          if (left === 0) throw new StoreConflict('the configuration keeps changing', 'Try again.')
      } catch (error) {
        store.share(null)
        throw error
      } finally {
        gate.resolve()
      }
      // Nothing has changed, but from now on the configuration belongs to the cluster.
      await this.#parts.publish()
      return cluster
    })
  }

  /** A token that the new node's operator uses once. */
  async invite(): Promise<{ token: Secret; expiresAt: string }> {
    const { node } = this.#parts
    const { cluster } = this.#requireMember()
    const invite = randomBytes(9).toString('base64url')
    const secret = mintInviteSecret()
    await node.link.ask('invite', { invite, minutes: inviteMinutes })
    const until = Date.now() + inviteMinutes * 60_000
    this.#invites.set(invite, { secret, until })
    this.#looking ??= setInterval(() => void this.#answerJoins().catch(() => {}), lookForJoinsMs)
    return {
      token: new Secret(`sp_join_${cluster}.${invite}.${secret.reveal()}`),
      expiresAt: new Date(until).toISOString(),
    }
  }

  /** Replaces this gateway's configuration and machine key by the cluster's. It must have no configuration of its own. */
  join(token: Secret): Promise<string> {
    return this.#oneAtATime(async () => {
      const { node, name } = this.#parts
      this.#refuseMember()
      await this.#refuseResources()
      const [, cluster, invite, secret] = tokenForm.exec(token.reveal().trim()) ?? []
      if (cluster === undefined || invite === undefined || secret === undefined)
        throw new StoreConflict(
          'this is not an invitation to a cluster, or it is incomplete: invitations begin with sp_join_',
          askForInvitation,
        )
      const found = await node.link.ask('find', null)
      if (found?.cluster !== cluster)
        throw new StoreConflict(
          'the database at cluster.postgres does not hold the cluster of this invitation',
          'Set cluster.postgres to the database of the node that invited.',
        )
      if (found.members.some((member) => member.name === name))
        throw new StoreConflict(
          `the cluster already has a node ${name}`,
          'Set another cluster.node and restart this gateway.',
        )
      const given = { secret: new Secret(secret), cluster, invite, member: newId('nod'), name }
      await this.#enter(given, await this.#askForKey(given))
      return cluster
    })
  }

  /** This node continues alone with what it has. One that was removed already only records that. */
  leave(): Promise<void> {
    return this.#oneAtATime(async () => {
      const { node, store } = this.#parts
      if (!node.isOut) {
        this.#requireMember()
        const members = await node.link.ask('members', null)
        if (members.every(({ id }) => id === node.self.member))
          throw new StoreConflict('this is the last node', 'To end the cluster: spgw cluster dissolve')
        await this.#handBack()
        await node.link.ask('leave', node.self)
      }
      await store.replica({ act: 'leave', spent: [] })
      node.standAlone()
    })
  }

  /** Returns this node's budgets, and ships its records. It stays a member. */
  handBack(): Promise<void> {
    return this.#oneAtATime(async () => {
      this.#requireMember()
      await this.#handBack()
    })
  }

  /**
   * The last node continues alone, with the records of all nodes and what the others spent. It leaves before PostgreSQL forgets the
   * cluster, so that a kill in between leaves a working gateway. Returns how many records it took over.
   */
  dissolve(): Promise<number> {
    return this.#oneAtATime(async () => {
      const { node, store, takeSpent } = this.#parts
      const { cluster } = this.#requireMember()
      const others = (await node.link.ask('members', null)).filter(({ id }) => id !== node.self.member)
      if (others.length > 0)
        throw new StoreConflict(
          `other nodes are members (${others.map(({ name }) => name).join(', ')})`,
          'First, on each of them: spgw cluster leave. For one that does not come back: spgw cluster remove NODE',
        )
      await node.catchUp()
      await this.#parts.releaseBudgets()
      // Counts pending background work while the other nodes' claims are still known.
      await node.link.ask('ship', null)
      const records = await this.#takeRecords()
      await this.#takeBodies()
      await this.#takeObjects()
      const spent = await node.link.ask('spent-by-others', node.self)
      await store.replica({ act: 'leave', spent })
      node.standAlone()
      takeSpent(spent)
      await node.link.ask('unfound', { cluster }).catch(refuseRest)
      return records
    })
  }

  /** A removed node can append nothing, even if it comes back. */
  async remove(name: string, returns: boolean): Promise<void> {
    const { node } = this.#parts
    this.#requireMember()
    if ((await node.listMembers()).some((member) => member.id === node.self.member && member.name === name))
      throw new StoreConflict(`${name} is this node`, 'To take it out: spgw cluster leave')
    if ((await node.link.ask('remove', { name, returns })) === null)
      throw new StoreConflict(`the cluster has no node ${name}`, 'For the names of all nodes: spgw cluster status')
  }

  async #handBack(): Promise<void> {
    const { node, releaseBudgets } = this.#parts
    await node.catchUp()
    await releaseBudgets()
    await node.link.ask('ship', null)
  }

  get #own(): OwnRecords {
    const { node, name } = this.#parts
    return { node: name, since: idAt(idTime(node.self.member) ?? 0) }
  }

  /** After a kill, the next call takes over the rest. */
  async #takeRecords(): Promise<number> {
    const { node, store } = this.#parts
    let count = 0
    for (let after = ''; ; ) {
      const page = await node.link.ask('read-others', { ...this.#own, after })
      if (page === null) return count
      count += await store.replica({ act: 'take-over', records: page.records })
      reachFaultPoint('dissolve.page-taken')
      after = page.last
    }
  }

  /** The same for captured bodies. */
  async #takeBodies(): Promise<void> {
    const { node, store } = this.#parts
    for (let after: readonly string[] = ['', '']; ; ) {
      const page = await node.link.ask('read-other-bodies', { ...this.#own, after })
      if (page === null) return
      await store.replica({ act: 'take-over-bodies', bodies: page.bodies })
      after = page.last
    }
  }

  /** Existing rows stay, so after a kill the next call may start from the beginning. */
  async #takeObjects(): Promise<void> {
    const { node, store } = this.#parts
    for (let after: string | null = objectHistoryStart; after !== null; ) {
      const page: SharedPage | null = await node.link.ask('read-objects', { after })
      if (page !== null) await store.replica({ act: 'take-over-objects', changes: page.changes })
      after = page?.last ?? null
    }
  }

  stop(): void {
    if (this.#looking !== null) clearInterval(this.#looking)
    this.#looking = null
  }

  /** A cluster that this node began to found and never used is founded again. */
  async #refuseOthers(): Promise<void> {
    const { node, name } = this.#parts
    const others = (await node.link.ask('find', null))?.members ?? []
    if (others.every((other) => other.name === name && other.heardAt === null)) return
    throw new StoreConflict(
      `the database at cluster.postgres has a cluster already, of ${others.map((other) => other.name).join(', ')}`,
      'A new gateway joins it: spgw cluster join TOKEN. To found another, name another database, or if none of its nodes comes back, run there: drop schema spgw cascade',
    )
  }

  #oneAtATime<Output>(run: () => Promise<Output>): Promise<Output> {
    const turn = this.#changing.then(run, run)
    this.#changing = turn.catch(() => {})
    return turn
  }

  /** False: the configuration changed in between, and nothing was done. */
  async #upload(cluster: string, member: string, name: string): Promise<boolean> {
    const { node, store } = this.#parts
    const token = randomBytes(16).toString('base64url')
    const { rows, digest } = await store.replica({ act: 'export' })
    await node.link.ask('found', { cluster, member, name, token, rows })
    const state = { cluster, member, sequence: 1, mark: token }
    try {
      await store.replica({ act: 'enter', state, rows: null, digest })
    } catch (error) {
      await node.link.ask('unfound', { cluster }).catch(() => {})
      if (error instanceof StoreMoved) return false
      throw error
    }
    node.stand(state)
    await node.settled()
    return true
  }

  async #askForKey(given: HandOver) {
    const { link } = this.#parts.node
    const joiner = makeJoiner(given)
    const { invite, member, name } = given
    const { publicKey, proof } = joiner
    const known = await link.ask('ask-join', { invite, member, name, publicKey, proof })
    if (!known) throw new StoreConflict('the invitation has expired, or was already used', askForInvitation)
    const until = performance.now() + answerWaitMs
    while (performance.now() < until) {
      const answer = await link.ask('read-answer', { invite })
      if (answer === '')
        throw new StoreConflict(
          'the node that made the invitation rejected this one: its secret does not match',
          askForInvitation,
        )
      if (answer !== null) return joiner.open(answer)
      await new Promise((resolve) => setTimeout(resolve, lookForJoinsMs))
    }
    throw new StoreConflict(
      'the node that made the invitation does not answer; a restart ends its invitations',
      askForInvitation,
    )
  }

  /**
   * The cluster's key is on disk before the database contains anything sealed under it. The database alone says which of the two keys is in
   * use (`sealing/next-key.ts`), so a join that was killed has either happened or not.
   */
  async #enter(given: HandOver, key: ReturnType<ReturnType<typeof makeJoiner>['open']>): Promise<void> {
    const { node, store, keyring, dataDirectory, publish } = this.#parts
    const { cluster, member } = given
    const old = keyring.describe()
    const { sequence, mark, rows } = await node.link.ask('rows', { after: 0 })
    const state = { cluster, member, sequence, mark }
    const enter = async () => {
      await store.replica({ act: 'enter', state, rows })
      reachFaultPoint('join.after-commit')
    }
    // If an operator gave all nodes the same key, there is nothing to install.
    if (key.keyId === old.keyId) await enter()
    else {
      const next = writeNextKey(dataDirectory, key)
      reachFaultPoint('join.key-written')
      const rotation = keyring.rotateTo(next)
      await enter()
      rotation.commit({ ...next, replaces: old.source })
      await store.seal.makeDurable()
      rotation.commit(installNextKey(next, dataDirectory, old.source))
    }
    node.stand(state)
    await publish()
    await node.settled()
  }

  async #answerJoins(): Promise<void> {
    for (const [invite, { until }] of this.#invites) if (Date.now() > until) this.#invites.delete(invite)
    if (this.#invites.size === 0) return this.stop()
    const { node, keyring } = this.#parts
    const asked = await node.link.ask('read-joins', { invites: [...this.#invites.keys()] })
    for (const request of asked) {
      const { invite, member, name, publicKey, proof } = request
      const known = this.#invites.get(invite)
      if (known === undefined) continue
      // An invitation can be used once, whatever the result.
      this.#invites.delete(invite)
      const given = { secret: known.secret, cluster: node.self.cluster, invite, member, name }
      const answer = answerJoiner(given, publicKey, proof, keyring.describe().source)
      await node.link.ask('answer-join', { ...request, answer: answer ?? '' })
    }
  }

  #requireMember() {
    const { state, trouble } = this.#parts.node
    if (state === null)
      throw new StoreConflict(
        'this gateway is not a member of a cluster',
        'Create one with spgw cluster init, or join one with spgw cluster join TOKEN.',
      )
    if (trouble !== null) throw new StoreReadOnly(trouble)
    return state
  }

  #refuseMember(): void {
    const { state, trouble } = this.#parts.node
    if (state !== null)
      throw new StoreConflict('this gateway is already a member of a cluster', 'To see its nodes: spgw cluster status')
    if (trouble !== null) throw new StoreReadOnly(trouble)
  }

  async #refuseResources(): Promise<void> {
    const { store } = this.#parts
    const { providers, routes, policies, keys } = await store.snapshot()
    const operators = await store.operators.list()
    const held = Object.entries({ providers, routes, policies, keys, operators })
    const [first] = held.filter(([, list]) => list.length > 0)
    if (first !== undefined)
      throw new StoreConflict(
        `this gateway has ${first[0]} of its own, which a join would replace`,
        'Join from a new gateway, with an empty data directory.',
      )
  }
}

function refuseRest(error: unknown): never {
  const reason = errorText(error)
  throw new StoreConflict(
    `this gateway is alone again, but PostgreSQL still holds the cluster (${reason})`,
    'Drop it there, as the owner of the schema: drop schema spgw cascade',
  )
}
