import type { LaneName } from '../core/lane.ts'
import type { Secret } from '../core/secrets/secret.ts'
import type {
  CheckPlan,
  CheckResult,
  EgressOptions,
  ProviderKind,
  ProviderTarget,
  Transport,
  TransportFault,
} from './contract.ts'
import { openCredential } from './credential.ts'
import { egressOf } from './egress.ts'
import { fetchWhole, type WholeLimits } from './whole-answer.ts'
import { baseUrlProblem } from './wire/base-url.ts'
import { checkFailed, checkPassed } from './wire/check-reading.ts'

export const checkLimits: WholeLimits = { bytes: 4 * 1024 * 1024, milliseconds: 10_000 }

/**
 * The free request that proves address and credential. Never throws: what goes wrong is the result.
 * Where nothing answers at the path, one more free request tries the base URL as it was probably meant.
 */
export async function checkProvider(
  kind: ProviderKind,
  target: ProviderTarget,
  credential: Secret | null,
  transport: Transport,
  limits: WholeLimits = checkLimits,
): Promise<CheckResult> {
  const opened = credential && openCredential(credential)
  const egress = egressOf(target.settings, opened?.identity ?? null)
  const check = { kind, credential: opened?.own ?? null, given: credential !== null, transport, limits, egress }
  const plan = kind.check
  if (!plan) return checkPassed([...(kind.fixedModels ?? [])], 'Built in: there is nothing to check.')
  const problem = addressProblem(kind, target)
  if (problem) return checkFailed('wrong_url', problem)
  const found = await ask(check, plan, target)
  if (found.reason !== 'wrong_url') return found
  const spelling = target.baseUrl ? plan.otherSpelling(target.baseUrl) : null
  if (!spelling) return found
  const other = await ask(check, plan, { ...target, baseUrl: spelling })
  // A refused credential proves the address just as well.
  if (!other.ok && other.reason !== 'credential_rejected') return found
  return checkFailed('wrong_url', `${found.message} The provider answers at ${spelling}: make that the base URL.`)
}

/** The kind knows what it calls (a preset may stand in for an empty base URL), so it is asked rather than second-guessed. */
function addressProblem(kind: ProviderKind, target: ProviderTarget): string | null {
  if (target.baseUrl) return baseUrlProblem(target.baseUrl)
  try {
    kind.address(target, firstLane(kind), '/')
    return null
  } catch {
    return 'Give a base URL, or a preset that has one.'
  }
}

interface CheckRequest {
  kind: ProviderKind
  credential: Secret | null
  /** The operator gave one, be it a client certificate alone. */
  given: boolean
  transport: Transport
  limits: WholeLimits
  egress: EgressOptions | null
}

async function ask(check: CheckRequest, plan: CheckPlan, target: ProviderTarget): Promise<CheckResult> {
  const { kind, credential, limits, egress } = check
  const lane = firstLane(kind)
  const address = kind.address(target, lane, plan.path)
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity']
  for (const [name, value] of [...kind.headers(target, lane, credential), ...(kind.defaults ?? [])])
    headers.push(name, value)
  const request = {
    method: plan.method,
    ...address,
    headers,
    body: null,
    connectMs: Math.min(5000, limits.milliseconds),
    egress,
  }
  const call = { provider: target, lane, operation: 'check', model: '', streamed: false, credential, recordChange() {} }
  const transport = kind.wrapTransport?.(check.transport, call) ?? check.transport
  const answer = await fetchWhole(transport, request, limits)
  switch (answer.outcome) {
    case 'answered':
      return blameAbsence(plan.read(answer.status, answer.body, target), check.given)
    case 'failed':
      return checkFailed('unreachable', unreachable(answer.fault))
    case 'too-large':
      return checkFailed('unexpected', 'The answer is far too long for a model list; check the base URL.')
    case 'too-slow':
      return checkFailed(
        'unreachable',
        `The provider did not answer within ${limits.milliseconds / 1000} s; check the address and try again.`,
      )
  }
}

/** A refusal of a credential that nobody gave is a request for one. */
function blameAbsence(result: CheckResult, given: boolean): CheckResult {
  if (given || result.reason !== 'credential_rejected') return result
  return checkFailed(
    'credential_rejected',
    'The provider asks for a credential, and none was given; give it with --credential-stdin or --credential-env VAR.',
  )
}

function unreachable(fault: TransportFault): string {
  const advice: Partial<Record<TransportFault['kind'], string>> = {
    'connect-timeout': 'Check the host and port, and that a firewall lets the gateway out.',
    unreachable: 'Check the host and port of the base URL, and that the server runs.',
    proxy:
      'Check HTTPS_PROXY and HTTP_PROXY where the gateway runs, or --proxy of the provider; --proxy direct uses none.',
    tls: 'Check whether the address is https or http, and whether the certificate is trusted here: --authorities "$(cat ca.pem)" also trusts those of that file.',
    'client-certificate':
      'Put one into the credential: {"credential": …, "client_certificate": …, "client_key": …}, both in PEM, with --credential-stdin.',
    reset: 'Check that the address and the scheme (http or https) are right.',
    exhausted: 'Raise the limit of open files: LimitNOFILE=65536 in the service, or ulimit -n.',
    protocol: 'Check that the address and the scheme (http or https) are right.',
  }
  return `${fault.message} ${advice[fault.kind] ?? ''}`.trimEnd()
}

function firstLane(kind: ProviderKind): LaneName {
  return kind.lanes[0] ?? 'openai'
}
