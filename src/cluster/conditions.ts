import type pg from 'pg'
import { certainlyAhead } from '../core/clock-apart.ts'
import type { NodeCondition } from '../core/node-condition.ts'
import { conditionsPart } from './schema/conditions.ts'
import { channel } from './schema/configuration.ts'
import { ensurePart } from './schema/parts.ts'
import type { Self } from './self.ts'

/** Notifies all nodes that a node's condition has changed. */
export const conditionWord = 'condition'
/** An older condition is outdated. */
const freshFor = '15 seconds'

type NodeRun = Pick<Self, 'member' | 'incarnation'>

/** Publishes this node's condition, and reads those of the others. */
export class Conditions {
  #own: NodeCondition | null = null
  /** Whether the others have been told that this node is out of service; null: not told anything yet. */
  #saidOut: boolean | null = null
  #isReady = false
  /** The clock difference, as measured at the last publication. */
  #clock: Pick<NodeCondition, 'clockAheadMs'> = {}

  /** True: the others must be notified now. */
  set(own: NodeCondition): boolean {
    this.#own = own
    return isOut(own) !== this.#saidOut
  }

  /** Conditions of all nodes that are heard from, by id; of this one what it said last, in an earlier run too. */
  async exchange(client: pg.Client, self: NodeRun): Promise<Record<string, NodeCondition>> {
    this.#isReady ||= await ensurePart(client, conditionsPart)
    if (!this.#isReady) return {}
    if (this.#own !== null) await this.#say(client, self, { ...this.#own, ...this.#clock })
    const { rows } = await client.query<{ member: string; condition: string }>(
      `select member, condition from spgw.conditions join spgw.members on id = member
       where time > now() - interval '${freshFor}' or member = $1`,
      [self.member],
    )
    return Object.fromEntries(rows.map(({ member: id, condition }) => [id, JSON.parse(condition) as NodeCondition]))
  }

  /** A second gateway that runs from a copy of this node's data publishes nothing in its name. */
  async #say(client: pg.Client, { member, incarnation }: NodeRun, own: NodeCondition): Promise<void> {
    const asked = Date.now()
    const { rows } = await client.query<{ now: string }>(
      `insert into spgw.conditions (member, condition) select id, $2 from spgw.members
       where id = $1 and incarnation = $3
       on conflict (member) do update set time = now(), condition = excluded.condition
       returning extract(epoch from clock_timestamp()) * 1000 as now`,
      [member, JSON.stringify(own), incarnation],
    )
    const [said] = rows
    if (said === undefined) return
    this.#clock = { clockAheadMs: certainlyAhead(asked, Number(said.now), Date.now()) }
    if (isOut(own) === this.#saidOut) return
    await client.query('select pg_notify($1, $2)', [channel, conditionWord])
    this.#saidOut = isOut(own)
  }
}

const isOut = ({ draining = false }: NodeCondition) => draining
