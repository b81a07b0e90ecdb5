import { type ErrorCode, errorCodes, errorTable } from '../src/core/errors.ts'

const origins = {
  client: 'the request',
  policy: 'a policy',
  gateway: 'the gateway',
  provider: 'the provider',
  network: 'the network',
} as const

/** `docs/reference/errors.md`, made from the one table of errors. */
export function errorReference(): string {
  return [
    '# Errors',
    '',
    'Every answer has the header `x-sp-request-id`; `spgw requests show ID` explains what happened. Errors of the gateway',
    'also have their code in `x-sp-error` and their origin in `x-sp-error-origin`. Their body has the shape of the lane, so',
    'that each SDK raises its usual exception. Where the table says *no* under *retry*, the answer has',
    '`x-should-retry: false`, and SDKs do not retry the request.',
    '',
    '| code | status | cause | retry | what to do |',
    '|---|---|---|---|---|',
    ...errorCodes.map(row),
    '',
    'Any other error of a provider passes with its status and `x-sp-error: provider_error`, after the retries and fallbacks',
    'of the route; credentials and account ids in it are masked, and a client of another format gets it in its own. If a',
    'client disconnects before its answer is complete, the record shows `client_closed` (499).',
    '',
    'This page is generated from `src/core/errors.ts` by `npm run reference`.',
    '',
  ].join('\n')
}

function row(code: ErrorCode): string {
  const { status, origin, hint, final } = errorTable[code]
  return `| \`${code}\` | ${status} | ${origins[origin]} | ${final ? 'no' : ''} | ${hint.replaceAll('|', '\\|')} |`
}
