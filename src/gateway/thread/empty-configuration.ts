import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'

/** Used before the first configuration is published. */
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
