import { escapeControls, formatMoney, formatValue } from '../../../../admin/contract/show-value.ts'
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
        <LimitBar key={limit.name} limit={limit} detailed={most > 2} />
      ))}
    </ul>
  )
}

function LimitBar({ limit, detailed }: { limit: UsedLimit; detailed: boolean }) {
  const share = shareOf(limit)
  const words = `${figure(limit, limit.used)} of ${figure(limit, limit.limit)}`
  return (
    <li className="limit-bar" title={`${limit.name}: ${words}`}>
      <span className="small row spread">
        <span className="truncate">{limit.name.replaceAll('_', ' ')}</span>
        <span className="number quiet nowrap">
          {words}
          {share >= 1 ? ', reached' : null}
        </span>
      </span>
      <meter
        className={`meter meter-${share >= 1 ? 'full' : share >= 0.8 ? 'near' : 'ok'}`}
        min={0}
        max={limit.limit}
        value={Math.min(limit.used, limit.limit)}
        aria-label={limit.name}
      />
      {detailed && limit.resets_at !== null ? (
        <span className="small quiet">
          Resets <Time at={limit.resets_at} />
        </span>
      ) : null}
    </li>
  )
}

function shareOf({ used, limit }: UsedLimit): number {
  return limit === 0 ? 1 : used / limit
}

function figure({ unit }: UsedLimit, value: number): string {
  return unit === 'usd' ? formatMoney(value) : formatValue(value, 'number', { now: 0, utc: false })
}
