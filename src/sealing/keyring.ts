import type { Secret } from '../core/secret.ts'

/** Seals and opens bytes under the machine key. Knows no tables: `identity` is the caller's word for the row it stands in. */
export interface Keyring {
  /** Versioned text, safe to store; opens only under the same identity. */
  seal(clear: string, identity: string): string
  /** Throws `SealBroken` when it was sealed under another identity or key, or was changed. */
  open(sealed: string, identity: string): Secret
  /** Short name of the key in use (from its hash), and where it was loaded from. */
  describe(): { keyId: string; source: string; format: string }
}
