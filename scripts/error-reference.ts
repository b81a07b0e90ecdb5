import { type ErrorCode, errorCodes, errorTable } from '../src/core/errors.ts'

const origins = {
  client: 'the request',
  policy: 'a policy',
  gateway: 'the gateway',
  provider: 'the provider',
  network: 'the way to the provider',
} as const

/** `docs/reference/errors.md`, made from the one table of errors. */
export function errorReference(): string {
  return [
    '# Errors',
    '',
    'Every answer carries `x-sp-request-id`; `spgw requests show ID` tells what happened. An error of the gateway also',
    'carries its code in `x-sp-error` and whose fault it is in `x-sp-error-origin`, in the body shape of the lane, so that',
    'each SDK raises its usual exception. Where the table says *no* under *retry*, the answer has `x-should-retry: false`,',
    'and SDKs do not repeat the request.',
    '',
    '| code | status | lies with | retry | what to do |',
    '|---|---|---|---|---|',
    ...errorCodes.map(row),
    '',
    'Other errors of a provider pass through as they are, with `x-sp-error: provider_error`, after the retries and fallbacks',
    'of the route. A client that hangs up before its answer is complete is on record as `client_closed` (499).',
    '',
    'This page is made from `src/core/errors.ts` by `npm run reference`.',
    '',
  ].join('\n')
}

function row(code: ErrorCode): string {
  const { status, origin, hint, final } = errorTable[code]
  return `| \`${code}\` | ${status} | ${origins[origin]} | ${final ? 'no' : ''} | ${hint.replaceAll('|', '\\|')} |`
}
