import { formatAmount, nameLimit } from '../../../../admin/contract/show-limit.ts'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { Missing, Time } from '../../parts/index.ts'
import type { UsedLimit } from './key-usage.ts'

interface LimitBarsProps {
  limits: readonly UsedLimit[]
  /** The key's own. */
  policy: string | null
  most?: number
}

/** A policy may well say which models are allowed, and nothing of how much. */
export function noLimits(policy: string | null): string {
  return policy === null ? 'No rate or budget limits' : `No rate or budget limits in policy ${escapeControls(policy)}`
}

/** Limits as small bars with their figures; the one nearest to its end first. */
export function LimitBars({ limits, policy, most = 2 }: LimitBarsProps) {
  if (limits.length === 0) return <Missing meaning={noLimits(policy)} />
  const sorted = [...limits].sort((left, right) => shareOf(right) - shareOf(left)).slice(0, most)
  return (
    <ul className="limit-bars">
      {sorted.map((limit) => (
        <LimitBar key={`${limit.policy} ${limit.scope} ${nameLimit(limit)}`} limit={limit} detailed={most > 2} />
      ))}
    </ul>
  )
}

function LimitBar({ limit, detailed }: { limit: UsedLimit; detailed: boolean }) {
  const share = shareOf(limit)
  const name = nameLimit(limit)
  const used = limit.used === null ? 'per user' : formatAmount(limit, limit.used)
  const words = `${used} of ${formatAmount(limit, limit.limit)}`
  const held = 'held' in limit && limit.held !== null && limit.held > 0 ? limit.held : null
  return (
    <li className="limit-bar" title={`${name}: ${words}. Policy ${limit.policy}, ${limit.scope}`}>
      <span className="small row spread">
        <span className="truncate">{`${name.charAt(0).toUpperCase()}${name.slice(1)}`}</span>
        <span className="number quiet nowrap">
          {words}
          {share >= 1 ? ', reached' : null}
        </span>
      </span>
      <meter
        className={`meter meter-${share >= 1 ? 'full' : share >= 0.8 ? 'near' : 'ok'}`}
        min={0}
        max={Math.max(limit.limit, 1e-9)}
        value={Math.min(limit.used ?? 0, limit.limit)}
        aria-label={`${name}: ${words}`}
      />
      {detailed ? (
        <span className="small quiet">
          Policy {escapeControls(limit.policy)}, {escapeControls(limit.scope)}
          {held === null ? null : `; ${formatAmount(limit, held)} held by requests in progress`}
          {limit.resets_at === null || limit.used === 0 ? null : (
            <>
              ; resets <Time at={limit.resets_at} />
            </>
          )}
        </span>
      ) : null}
    </li>
  )
}

function shareOf({ used, limit }: UsedLimit): number {
  return limit === 0 ? 1 : (used ?? 0) / limit
}
