import { blobs } from './blobs.ts'
import type { Detector } from './detector.ts'
import { accountNumbers, cardNumbers, emailAddresses, phoneNumbers } from './personal.ts'
import { bearerTokens, gatewayKeys, privateKeys, providerKeys } from './secrets.ts'

/** Everything that is recognised by form alone, by the names that content rules use. */
export const detectors = {
  'gateway-keys': gatewayKeys,
  'provider-keys': providerKeys,
  'bearer-tokens': bearerTokens,
  'private-keys': privateKeys,
  'email-addresses': emailAddresses,
  'phone-numbers': phoneNumbers,
  'card-numbers': cardNumbers,
  'account-numbers': accountNumbers,
  blobs,
} satisfies Record<string, Detector>
