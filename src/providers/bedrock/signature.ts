/** Loaded with the first call that is signed. */
export { Sha256 } from '@aws-crypto/sha256-js'
export { SignatureV4 } from '@smithy/signature-v4'
