import { Link } from '@tanstack/react-router'
import { formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import { Count, Duration, StateBadge, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Explanation, Provider, Route, RouteTarget, RouteTraffic } from '../outputs.ts'
import type { FormatsSearch } from './formats.ts'
import { drawLines, expectedShares, pictureHeight } from './route-picture.ts'
import { stateOfTarget } from './target-state.ts'
import { type TargetTraffic, trafficOf } from './target-traffic.ts'

const size = { width: 120, rowHeight: 92, gap: 12 }

export interface RouteDrawingProps {
  route: Route
  providers: readonly Provider[]
  explanation: Explanation | undefined
  traffic: readonly RouteTraffic[]
}

/**
 * Client model → targets, the lines as broad as their share of traffic. Those who do not see the lines have a list in
 * the order in which the targets are tried, with the same words.
 */
export function RouteDrawing({ route, providers, explanation, traffic }: RouteDrawingProps) {
  const sent = route.targets.map((target) => trafficOf(target, route.targets, traffic))
  const isUsed = traffic.some(({ tried }) => tried > 0)
  const shares = sent.map((one) => (isUsed ? (one?.share ?? 0) : null))
  const expected = expectedShares(route.strategy, route.targets)
  const keyed = route.targets.map((target, index) => ({ target, index, key: `${index}-${target.provider}` }))
  const lines = drawLines(
    keyed.map(({ key, index }) => ({ key, share: shares[index] ?? null })),
    size,
  )
  return (
    <figure className="route-drawing" aria-label={`How requests for ${route.model} are routed`}>
      <div className="route-model">
        <span className="small quiet">Requested model</span>
        <b className="breakable">
          <UntrustedText text={route.model} />
        </b>
        <span className="small quiet">
          {route.project}/{route.environment ?? 'all environments'}
        </span>
        <span className="small">{describeStrategy(route)}</span>
        {describeOptions(route).map((text) => (
          <span key={text} className="small quiet breakable">
            <UntrustedText text={text} />
          </span>
        ))}
      </div>
      <svg
        className="route-lines"
        viewBox={`0 0 ${size.width} ${pictureHeight(keyed.length, size)}`}
        width={size.width}
        height={pictureHeight(keyed.length, size)}
        aria-hidden="true"
      >
        {lines.map(({ key, path, width }) => (
          <path key={key} d={path} strokeWidth={width} className={route.enabled ? '' : 'route-line-off'} />
        ))}
      </svg>
      <ol className="route-targets">
        {keyed.map(({ key, target, index }) => (
          <Target
            key={key}
            target={target}
            position={index + 1}
            rank={rankOf(target, route.targets)}
            route={route}
            provider={providers.find(({ name }) => name === target.provider)}
            explanation={explanation}
            traffic={sent[index] ?? null}
            share={shares[index] ?? null}
            expected={expected[index] ?? null}
          />
        ))}
      </ol>
    </figure>
  )
}

interface TargetProps {
  target: RouteTarget
  position: number
  /** Which choice it is, from 1; targets of the same priority share it. */
  rank: number
  route: Route
  provider: Provider | undefined
  explanation: Explanation | undefined
  traffic: TargetTraffic | null
  share: number | null
  expected: number | null
}

function Target({ target, position, rank, route, provider, explanation, traffic, share, expected }: TargetProps) {
  const state = stateOfTarget(target, explanation?.model ?? route.model, provider, explanation)
  return (
    <li className="route-target card">
      <div className="row spread route-target-head">
        <span className="truncate">
          <span className="visually-hidden">Target {position}: </span>
          <Link to="/providers/$name" params={{ name: target.provider }} search={keepScope}>
            <UntrustedText text={target.provider} />
          </Link>
          {target.upstream_model === null ? null : (
            <span className="quiet">
              {' '}
              as <UntrustedText text={target.upstream_model} />
            </span>
          )}
        </span>
        <StateBadge state={state.word} tone={state.tone} />
      </div>
      {state.reason === null ? null : (
        <p className="small truncate route-reason" title={state.reason}>
          <UntrustedText text={state.reason} />
        </p>
      )}
      <p className="row small quiet route-target-facts">
        <span title={`priority=${target.priority}`}>{ordinal(rank)} choice</span>
        {target.formats.length === 0 ? null : (
          <span title="Requests in another format are translated into the first">
            Format {target.formats.join(', ')},{' '}
            <Link
              to="/routing/translation"
              search={(before) => ({ ...keepScope(before), ...comparedWith(target.formats[0]) })}
              aria-label={`losses of requests to ${target.provider} in translation`}
            >
              losses
            </Link>
          </span>
        )}
        {route.strategy === 'weighted' || target.weight === 0 ? <span>Weight {target.weight}</span> : null}
        {expected === null || share !== null ? null : <span>Expected share {percent(expected)}</span>}
      </p>
      <p className="row route-target-facts">
        <span>
          {share === null ? 'No attempts in the last hour' : `${percent(share)} of attempts in the last hour`}
        </span>
        {traffic === null || traffic.tried === 0 ? null : <Attempts {...traffic} />}
      </p>
    </li>
  )
}

function Attempts({ tried, failed, p95 }: TargetTraffic) {
  return (
    <span className="quiet">
      <Count value={tried} /> tried
      {failed === 0 ? null : (
        <span className="state-bad">
          , <Count value={failed} /> failed
        </span>
      )}
      {p95 === null ? null : (
        <>
          , p95 <Duration ms={p95} />
        </>
      )}
    </span>
  )
}

/** Clients have another format, and most have OpenAI's. */
function comparedWith(to: RouteTarget['formats'][number] | undefined): FormatsSearch {
  return to === undefined ? {} : { from: to === 'chat' ? 'messages' : 'chat', to }
}

/** By the order of priorities, whose numbers leave gaps and may begin anywhere: the first that are tried have 1. */
export function rankOf({ priority }: RouteTarget, all: readonly RouteTarget[]): number {
  return new Set(all.map((target) => target.priority).filter((other) => other < priority)).size + 1
}

const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' })

function ordinal(number: number): string {
  return `${number}${endings[ordinals.select(number)] ?? 'th'}`
}

export function percent(share: number): string {
  const value = share * 100
  if (value > 99 && value < 100) return '> 99%'
  return value > 0 && value < 1 ? '< 1%' : `${Math.round(value)}%`
}

const strategies: Record<string, string> = {
  priority: 'First ready target',
  weighted: 'Split by weight',
  latency: 'Fastest target first',
  cost: 'Cheapest target first',
}

/** What happens besides the choice of a target, in a few words each. */
function describeOptions({ sticky, hedge, shadow, strict, keep_responses_ms }: Route): string[] {
  return [
    ...(strict ? ['Strict: a target that would lose something in translation is skipped'] : []),
    ...(keep_responses_ms === null ? [] : [`Keeps translated Responses for ${formatMilliseconds(keep_responses_ms)}`]),
    ...(sticky ? ['Sticky: cached prompts stay with their target'] : []),
    ...(hedge === null ? [] : [`Hedged after ${hedge.after}, at most ${hedge.share}%`]),
    ...(shadow === null ? [] : [`Copied to ${shadow}`]),
  ]
}

export function describeStrategy({ strategy, targets }: Route): string {
  return targets.length === 1 ? 'Single target, no fallback' : (strategies[strategy] ?? strategy)
}
