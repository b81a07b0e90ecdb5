/**
 * Why somebody comes back from an identity provider and is not let in. The word stands in the address of the sign-in
 * page, which has a text for each: a text in an address could be anybody's.
 */
export const oidcFailures = [
  'not-started',
  'not-configured',
  'unavailable',
  'unverified',
  'cancelled',
  'claim-missing',
  'no-role',
  'disabled',
  'throttled',
] as const
export type OidcFailure = (typeof oidcFailures)[number]
