import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'

/** Before the first has been published. */
export const emptyConfiguration: ConfigurationSnapshot = {
  version: 0,
  providers: [],
  routes: [],
  policies: [],
  projects: [],
  environments: [],
  timeZone: 'UTC',
  defaultProviders: {},
  tokenKey: new Uint8Array(),
  bodyKey: null,
}
