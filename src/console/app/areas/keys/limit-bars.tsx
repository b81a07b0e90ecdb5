import type { ReactNode } from 'react'
import {
  formatAmount,
  type LimitUsage,
  nameHeld,
  nameLimit,
  nameScope,
  shareOf,
} from '../../../../admin/contract/show-limit.ts'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { Missing, Time } from '../../parts/index.ts'
import type { UsedLimit } from './used-limits.ts'

interface LimitBarsProps {
  limits: readonly UsedLimit[]
  /** The key's own. */
  policy: string | null
}

/** A policy may well say which models are allowed, and nothing of how much. */
export function noLimits(policy: string | null): string {
  return policy === null ? 'No rate or budget limits' : `No rate or budget limits in policy ${escapeControls(policy)}`
}

/** Of a policy, or of an account at a provider. */
export type ShownLimit = LimitUsage & { policy: string; resets_at: string | null }

interface LimitBarListProps {
  limits: readonly ShownLimit[]
  /** Each with where it applies and when it resets. */
  detailed?: boolean
  /** They are all of one policy, whose name stands above them. */
  ofOne?: boolean
  most?: number
  label?: string
}

/** Bars with their figures; the one nearest to its end first. */
export function LimitBarList(props: LimitBarListProps) {
  const { limits, detailed = false, ofOne = false, most = limits.length, label } = props
  const sorted = [...limits].sort((left, right) => shareOf(right) - shareOf(left)).slice(0, most)
  return (
    <ul className={detailed ? 'limit-bars limit-bars-detailed' : 'limit-bars'} aria-label={label}>
      {sorted.map((limit) => (
        <LimitBar key={`${limit.policy} ${limit.scope} ${nameLimit(limit)}`} limit={limit}>
          {detailed ? <LimitNote limit={limit} ofOne={ofOne} /> : null}
        </LimitBar>
      ))}
    </ul>
  )
}

/** The limits of a key in a cell; the page of the key shows all of them. */
export function LimitBars({ limits, policy }: LimitBarsProps) {
  if (limits.length === 0) return <Missing meaning={noLimits(policy)} />
  return <LimitBarList limits={limits} most={2} />
}

const heldOf = ({ held }: ShownLimit): number => held ?? 0

function LimitBar({ limit, children }: { limit: ShownLimit; children: ReactNode }) {
  const { used, scope, policy } = limit
  const share = shareOf(limit)
  const name = nameLimit(limit)
  const held = heldOf(limit)
  const whole = formatAmount(limit, limit.limit)
  const words =
    used === null ? `${whole} for each end user` : `${formatAmount(limit, used)} of ${whole}${nameHeld(limit)}`
  const part = (amount: number) => `${Math.min(100, limit.limit === 0 ? 100 : (amount / limit.limit) * 100)}%`
  return (
    <li
      className="limit-bar"
      title={`${name}: ${words}. ${policy === '' ? '' : `Policy ${policy}, `}${nameScope(scope)}`}
    >
      <span className="small row spread">
        <span>{capitalize(name)}</span>
        <span className="number quiet nowrap">
          {words}
          {share >= 1 ? <b className="state-bad">, used up</b> : null}
        </span>
      </span>
      {used === null ? null : (
        <span
          className={`limit-track limit-track-${share >= 1 ? 'full' : share >= 0.8 ? 'near' : 'ok'}`}
          role="img"
          aria-label={`${name}: ${words}`}
        >
          <span className="limit-used" style={{ width: part(used) }} />
          {held === 0 ? null : <span className="limit-held" style={{ width: part(held) }} />}
        </span>
      )}
      {children}
    </li>
  )
}

function LimitNote({ limit, ofOne }: { limit: ShownLimit; ofOne: boolean }) {
  const { policy, scope, resets_at: resetsAt, used } = limit
  const held = heldOf(limit)
  const isBudget = (limit.period ?? null) !== null
  return (
    <span className="small quiet breakable">
      {capitalize(escapeControls(nameScope(scope)))}
      {ofOne ? null : `, policy ${escapeControls(policy)}`}
      {held === 0 ? null : `; ${formatAmount(limit, held)} held by requests in progress`}
      {resetsAt === null || (!isBudget && (used ?? 0) === 0) ? null : (
        <>
          ; {isBudget ? 'resets' : 'all free again'} <Time at={resetsAt} />
        </>
      )}
    </span>
  )
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
